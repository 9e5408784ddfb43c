//! Figures of kernels, as the assembler reports them: registers, spills, shared bytes.
//!
//! The assembler reports them only in a log meant for people. A line of another form is ignored, and a kernel
//! without a report has zeros.

/// The figures of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub kernel: String,
    /// For each thread.
    pub registers: u32,
    /// Bytes of each thread that are in memory instead: arrays with run-time indices, and spills.
    pub stack_bytes: u32,
    /// Bytes of spill stores and loads, for lack of registers.
    pub spill_bytes: u32,
    /// Of each block, beside those that a launch asks for.
    pub shared_bytes: u32,
}

/// Reads the figures of all kernels from a log of `--ptxas-options=-v`.
#[must_use]
pub fn figures(log: &str) -> Vec<Figures> {
    let mut all: Vec<Figures> = Vec::new();
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let kernel = rest.split('\'').next().unwrap_or_default().to_owned();
            all.push(Figures { kernel, ..Figures::default() });
        } else if let Some(last) = all.last_mut() {
            let before = |what: &str| number_before(line, what);
            if let Some(bytes) = before(" bytes stack frame") {
                last.stack_bytes = bytes;
                let spilled = [" bytes spill stores", " bytes spill loads"].map(|it| before(it).unwrap_or(0));
                last.spill_bytes = spilled.iter().sum();
            }
            last.registers = before(" registers").unwrap_or(last.registers);
            last.shared_bytes = before(" bytes smem").unwrap_or(last.shared_bytes);
        }
    }
    all
}

/// The number that stands in front of these words.
fn number_before(line: &str, words: &str) -> Option<u32> {
    let front = &line[..line.find(words)?];
    let digits = front.rsplit(|it: char| !it.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_a_log_has_its_own() {
        let log = "\
ptxas info    : 16 bytes gmem
ptxas info    : Compiling entry function 'one' for 'sm_90'
ptxas info    : Function properties for one
ptxas         .     24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 28 registers, used 1 barriers, 24 bytes cumulative stack size, 2048 bytes smem
ptxas info    : Compiling entry function 'two' for 'sm_90'
ptxas info    : Function properties for two
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
";
        let one = Figures {
            kernel: "one".to_owned(),
            registers: 28,
            stack_bytes: 24,
            spill_bytes: 20,
            shared_bytes: 2048,
        };
        let two = Figures { kernel: "two".to_owned(), registers: 8, ..Figures::default() };
        assert_eq!(figures(log), [one, two]);
    }
}
