// The program whose precompiled header the tests of the half without torch share (tests/CMakeLists.txt).
int main() {}
