//! Names and tokens that nobody can guess.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system's random numbers do not fail once the system is up");
}

/// `bytes` random bytes in hexadecimal: names of jobs, uploads and reports.
pub(crate) fn hex(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    fill(&mut random);
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A token of 256 bits, as it stands in an address.
pub(crate) fn token() -> String {
    let mut random = [0; 32];
    fill(&mut random);
    URL_SAFE_NO_PAD.encode(random)
}
