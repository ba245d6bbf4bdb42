// Stands for a profiler: NVTX loads it into a process and it writes each range that begins ("+ name") and ends ("-") into the file NVTX_HEARD.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>

namespace {

std::FILE* heard() {
  static std::FILE* const file = std::fopen(std::getenv("NVTX_HEARD"), "w");
  return file;
}
int NVTX_API push(const char* name) { return std::fprintf(heard(), "+ %s\n", name); }
int NVTX_API pop() { return std::fprintf(heard(), "-\n"); }

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
