/* NVRTC for the GPU of `driver.cpp`: kernels are compiled by g++, behind `emulation.h`, as a library.
 *
 * What it hands over as machine code is EMULATED_MAGIC, the length of the library, and the library. It has for each
 * kernel `emulated_by_NAME`, which calls it, and `emulated_arity_NAME`. EMULATION is this folder.
 */
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdint.h>
#include <stdlib.h>
#include <string>
#include <string.h>
#include <unistd.h>

#include "driver.h"

#define API extern "C" __attribute__((visibility("default"))) int

/* Without these the bits are others; see `tests/src/emulation.rs`. */
static const char FLAGS[] = "-std=c++17 -O1 -ffp-contract=off -fno-strict-aliasing -ftrivial-auto-var-init=pattern -w "
                            "-shared -fPIC -Wl,-Bsymbolic -DEMULATED_LIBRARY";

enum { FINE = 0, INVALID_INPUT = 3, COMPILATION = 6, INTERNAL = 11 };

struct program {
    std::string text, log, code;
};

static std::string whole(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

API nvrtcVersion(int *major, int *minor)
{
    *major = 12;
    *minor = 9;
    return FINE;
}

API nvrtcGetNumSupportedArchs(int *count)
{
    *count = 1;
    return FINE;
}

API nvrtcGetSupportedArchs(int *archs)
{
    *archs = EMULATED_ARCH;
    return FINE;
}

API nvrtcCreateProgram(program **made, const char *text, const char *, int, const char *const *, const char *const *)
{
    *made = new program{text, "", ""};
    return FINE;
}

API nvrtcDestroyProgram(program **it)
{
    delete *it;
    *it = NULL;
    return FINE;
}

API nvrtcCompileProgram(program *it, int n, const char *const *options)
{
    std::ostringstream defines, before, behind;
    const std::string define = "--define-macro=";
    for (int at = 0; at < n; ++at) {
        if (strncmp(options[at], define.c_str(), define.size()) == 0) {
            defines << " -D" << options[at] + define.size();
        }
    }
    const std::regex kernel("__global__\\s+void\\s+(?:__launch_bounds__\\([^)]*\\)\\s*)?(\\w+)\\s*\\(");
    for (std::sregex_iterator at(it->text.begin(), it->text.end(), kernel), end; at != end; ++at) {
        const std::string name = (*at)[1];
        /* So that no kernel has the name of a function of C. */
        before << "#define " << name << " emulated_" << name << "\n";
        behind << "extern \"C\" void emulated_by_" << name << "(void **all) { emulated_call(emulated_" << name
               << ", all); }\n"
               << "extern \"C\" int emulated_arity_" << name << "() { return emulated_arity(emulated_" << name
               << "); }\n";
    }
    std::string folder = std::filesystem::temp_directory_path() / "emulated-XXXXXX";
    if (mkdtemp(folder.data()) == NULL) return INTERNAL;
    const std::string source = folder + "/stencil.cpp", library = folder + "/stencil.so", log = folder + "/log";
    std::ofstream(source) << "#include \"emulation.h\"\n"
                          << before.str() << "#line 1 \"stencil.cu\"\n"
                          << it->text << "\n"
                          << behind.str();
    std::ostringstream command;
    command << "g++ " << FLAGS << defines.str() << " -I '" << EMULATION << "' '" << source << "' '" << EMULATION
            << "/emulation.cpp' -o '" << library << "' 2> '" << log << "'";
    const bool is_fine = system(command.str().c_str()) == 0;
    it->log = whole(log);
    if (is_fine) {
        const std::string found = whole(library);
        const uint64_t length = found.size();
        it->code = std::string(EMULATED_MAGIC) + std::string((const char *)&length, sizeof length) + found;
    }
    for (const std::string &file : {source, library, log}) unlink(file.c_str());
    rmdir(folder.c_str());
    return is_fine ? FINE : COMPILATION;
}

API nvrtcGetProgramLogSize(program *it, size_t *bytes)
{
    *bytes = it->log.size() + 1;
    return FINE;
}

API nvrtcGetProgramLog(program *it, char *log)
{
    memcpy(log, it->log.c_str(), it->log.size() + 1);
    return FINE;
}

API nvrtcGetCUBINSize(program *it, size_t *bytes)
{
    *bytes = it->code.size();
    return it->code.empty() ? INVALID_INPUT : FINE;
}

API nvrtcGetCUBIN(program *it, char *code)
{
    memcpy(code, it->code.data(), it->code.size());
    return FINE;
}
