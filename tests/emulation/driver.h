/* What the driver and the NVRTC of the emulated GPU agree on. */
#pragma once

/* In front of a library, as long as a word. */
#define EMULATED_MAGIC "emulated"

/* That of no GPU, so that no cache takes its code for another one's. */
#define EMULATED_ARCH 99
