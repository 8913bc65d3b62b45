#pragma once
// The optimizers in float64, one tensor and one element at a time, as written in their papers.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace bertpretrain::testing {

struct OracleTensor {
    std::vector<double> w, m, v;
    bool decays = true;
};

struct Oracle {
    std::string name;
    double beta1, beta2, eps, decay, clip, peak;
    std::vector<OracleTensor> tensors;

    static double norm(const std::vector<double>& x) {
        double sum = 0;
        for (const double value : x) sum += value * value;
        return std::sqrt(sum);
    }

    double step(std::vector<std::vector<double>> gradients, double rate, int t) {
        double squares = 0;
        for (const auto& g : gradients) squares += norm(g) * norm(g);
        const double global = std::sqrt(squares);
        for (auto& g : gradients)
            for (double& value : g)
                if (clip > 0 && global > clip) value *= clip / global;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            if (name == "adamw") adamw(tensors[i], gradients[i], rate, t);
            if (name == "lamb") lamb(tensors[i], gradients[i], rate, t);
            if (name == "lans") lans(tensors[i], gradients[i], rate, t);
            if (name == "stable_adamw") stable_adamw(tensors[i], gradients[i], rate, t);
        }
        return global;
    }

private:
    void moments(OracleTensor& x, const std::vector<double>& g) const {
        for (std::size_t i = 0; i < g.size(); ++i) {
            x.m[i] = beta1 * x.m[i] + (1 - beta1) * g[i];
            x.v[i] = beta2 * x.v[i] + (1 - beta2) * g[i] * g[i];
        }
    }
    double m_hat(const OracleTensor& x, std::size_t i, int t) const { return x.m[i] / (1 - std::pow(beta1, t)); }
    double root(const OracleTensor& x, std::size_t i, int t) const { return std::sqrt(x.v[i] / (1 - std::pow(beta2, t))) + eps; }

    void adamw(OracleTensor& x, const std::vector<double>& g, double rate, int t) const {
        moments(x, g);
        for (std::size_t i = 0; i < g.size(); ++i) {
            if (x.decays) x.w[i] *= 1 - rate * decay;
            x.w[i] -= rate * m_hat(x, i, t) / root(x, i, t);
        }
    }

    void lamb(OracleTensor& x, const std::vector<double>& g, double rate, int t) const {
        moments(x, g);
        std::vector<double> u(g.size());
        for (std::size_t i = 0; i < g.size(); ++i) u[i] = m_hat(x, i, t) / root(x, i, t) + (x.decays ? decay * x.w[i] : 0);
        double ratio = 1;
        if (x.decays && decay != 0 && norm(x.w) > 0 && norm(u) > 0) ratio = norm(x.w) / norm(u);
        for (std::size_t i = 0; i < g.size(); ++i) x.w[i] -= rate * ratio * u[i];
    }

    void lans(OracleTensor& x, std::vector<double> g, double rate, int t) const {
        const double length = norm(g);
        if (length > 0)
            for (double& value : g) value /= length + eps;
        moments(x, g);
        std::vector<double> r(g.size()), c(g.size());
        for (std::size_t i = 0; i < g.size(); ++i) {
            const double pull = x.decays ? decay * x.w[i] : 0;
            r[i] = m_hat(x, i, t) / root(x, i, t) + pull;
            c[i] = g[i] / root(x, i, t) + pull;
        }
        const double size = norm(x.w);
        const double ratio_r = size > 0 && norm(r) > 0 ? size / norm(r) : 1,
                     ratio_c = size > 0 && norm(c) > 0 ? size / norm(c) : 1;
        for (std::size_t i = 0; i < g.size(); ++i) x.w[i] -= rate * (beta1 * ratio_r * r[i] + (1 - beta1) * ratio_c * c[i]);
    }

    void stable_adamw(OracleTensor& x, const std::vector<double>& g, double rate, int t) const {
        moments(x, g);
        double sum = 0;
        for (std::size_t i = 0; i < g.size(); ++i) sum += g[i] * g[i] / std::max(x.v[i] / (1 - std::pow(beta2, t)), eps * eps);
        rate /= std::max(1.0, std::sqrt(sum / static_cast<double>(g.size())));
        for (std::size_t i = 0; i < g.size(); ++i) {
            if (x.decays) x.w[i] *= 1 - rate / peak * decay;
            x.w[i] -= rate * m_hat(x, i, t) / root(x, i, t);
        }
    }
};

}  // namespace bertpretrain::testing
