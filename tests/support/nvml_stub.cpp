// Replaces NVIDIA's management library on machines without a driver: the C interface as the manual declares it, with one GPU.
#include <cstring>

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    static int gpu = 0;
    *device = &gpu;
    return index == 0 ? 0 : 2;
}
int nvmlDeviceGetName(void*, char* name, unsigned length) {
    std::strncpy(name, "Stub GPU", length);
    return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
    total_free_used[0] = 80ULL << 30;
    total_free_used[1] = 60ULL << 30;
    total_free_used[2] = 20ULL << 30;
    return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
    *mhz = type == 1 ? 1410 : 2619;
    return type == 1 || type == 2 ? 0 : 2;
}
int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* mhz) {
    *mhz = 1980;
    return type == 1 ? 0 : 2;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
    *celsius = 41;
    return sensor == 0 ? 0 : 2;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_memory) {
    gpu_memory[0] = 12;
    gpu_memory[1] = 5;
    return 0;
}
int nvmlDeviceGetTotalEccErrors(void*, int kind, int counter, unsigned long long* errors) {
    *errors = kind == 1 ? 3 : 14;
    return (kind == 0 || kind == 1) && counter == 0 ? 0 : 2;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
    *milliwatts = 350500;
    return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
    *reasons = 0x4 | 0x40;  // power cap, hot
    return 0;
}
int nvmlDeviceGetPcieReplayCounter(void*, unsigned* replays) {
    *replays = 7;
    return 0;
}
int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* is_active) {
    *is_active = link < 2 ? 1 : 0;
    return link < 4 ? 0 : 2;  // four links, two of them in use
}
int nvmlDeviceGetNvLinkErrorCounter(void*, unsigned link, int counter, unsigned long long* errors) {
    *errors = 10 * static_cast<unsigned long long>(counter) + link;
    return link < 2 && counter < 3 ? 0 : 3;  // this GPU does not count checksums of data
}
}
