# Writes a C++ file that embeds the files of device/ as strings: cmake -DOUTPUT=... -DFILES=... -P
# embed.cmake

set(rows "")
foreach(file IN LISTS FILES)
  cmake_path(GET file FILENAME name)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"CUDA(${text})CUDA\"},\n")
endforeach()
list(LENGTH FILES n)
file(
  WRITE ${OUTPUT}
  "// The text of plugins/cuda/device, written by embed.cmake.\n\n"
  "#include \"plugins/cuda/kernels/device_code.h\"\n\nnamespace tenon_cuda {\n\n"
  "const DeviceFile kDeviceFiles[] = {\n${rows}};\nconst size_t kDeviceFileCount = ${n};\n\n"
  "}  // namespace tenon_cuda\n")
