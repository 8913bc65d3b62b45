// The program whose precompiled header the tests of the torch half share (tests/CMakeLists.txt).
int main() {}
