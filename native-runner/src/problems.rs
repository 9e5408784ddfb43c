//! The kinds of problems: what each means and what to do. `/problems/{code}` shows them.

use isobar_protocol::names;
use isobar_protocol::problem::Problem;

/// A kind of problem.
#[derive(Debug)]
pub struct Kind {
    /// The last part of its address.
    pub code: &'static str,
    pub title: &'static str,
    pub status: u16,
    /// The meaning of the problem and the reason for it, for its page.
    pub about: &'static str,
    /// Advice, for its page and each problem.
    pub next: &'static [&'static str],
}

impl Kind {
    /// A problem of this kind.
    #[must_use]
    pub fn problem(&self, detail: impl Into<String>) -> Problem {
        Problem {
            kind: format!("/problems/{}", self.code),
            title: self.title.to_owned(),
            status: self.status,
            detail: names::message(detail.into()),
            code: self.code.to_owned(),
            next: self.next.iter().map(|&it| it.to_owned()).collect(),
            ..Problem::default()
        }
    }
}

macro_rules! kinds {
    ($($name:ident = $code:literal, $status:literal, $title:literal, $about:literal, [$($next:literal),*];)*) => {
        $(pub static $name: Kind = Kind {
            code: $code, title: $title, status: $status, about: $about, next: &[$($next),*],
        };)*
        /// All of them, by status.
        pub static ALL: &[&Kind] = &[$(&$name),*];
    };
}

kinds! {
    INVALID_REQUEST = "invalid-request", 400, "the request is not understood",
        "The body is no JSON, or not a request document, or a value in the address is out of range. The detail names the place.",
        ["correct the request and send it again"];
    UNAUTHENTICATED = "unauthenticated", 401, "the token is missing or wrong",
        "Everything below /v1 needs the token that `isobar serve` prints when it starts, so that no other program or page of this machine can use the runner. Each start makes a new token.",
        ["open the address that `isobar serve` printed", "send the header `Authorization: Bearer TOKEN`"];
    FORBIDDEN = "forbidden", 403, "the runner does not answer here",
        "A runner answers only under its own address and only its own page. This keeps other pages in your browser, and names that are made to point at your machine, away from it.",
        ["use the address that `isobar serve` printed"];
    NOT_FOUND = "not-found", 404, "there is nothing here",
        "The address, job, field or upload does not exist, or its name is misspelt.",
        ["check the address"];
    METHOD_NOT_ALLOWED = "method-not-allowed", 405, "the method is not possible here",
        "The address exists, and takes another method.",
        ["see docs/api.md for what each address takes"];
    SLOW_BODY = "slow-body", 408, "the request did not arrive in time",
        "The body of the request came too slowly.",
        ["send it again"];
    GONE = "gone", 410, "the result is no longer kept",
        "Results of jobs that are over are kept within a total size, uploads also for a limited time; then the oldest are dropped.",
        ["run it again", "send the upload again"];
    PAYLOAD_TOO_LARGE = "payload-too-large", 413, "the request is too large",
        "A request that is larger than the limit is refused as soon as that shows, and nothing of it is kept. Field data belongs into an upload.",
        ["send field data to /v1/uploads", "send fewer or shorter files"];
    UNSUPPORTED_MEDIA_TYPE = "unsupported-media-type", 415, "the body has the wrong type",
        "Documents are sent as application/json, uploads as application/octet-stream. This keeps forms of other pages out.",
        ["set the header `Content-Type`"];
    COMPILE_FAILED = "compile-failed", 422, "the stencil does not compile",
        "The diagnostics say what is wrong, where, and what to write instead.",
        ["correct the stencil"];
    CALL_REFUSED = "call-refused", 422, "the stencil cannot be run with these arguments",
        "A field is missing, too small or of another type, or a scalar does not fit. The diagnostics name each.",
        ["correct the arguments"];
    DOMAIN_TOO_LARGE = "domain-too-large", 422, "the run needs more memory than it may have",
        "The memory of the fields and the temporaries is added up before a run; a run that asks for too much is not started.",
        ["choose a smaller domain", "compile with 32-bit precision"];
    BACKEND_UNAVAILABLE = "backend-unavailable", 422, "the back end cannot run here",
        "The runner lists every back end, and for those that cannot run the reason.",
        ["choose another back end", "see `isobar backends`"];
    RUN_TRAPPED = "run-trapped", 422, "the run stopped itself",
        "An index that is computed while the stencil runs left its field. The run was stopped at that cell: nothing beyond a field is ever read or written.",
        ["correct the index, or guard it"];
    CANCELLED = "cancelled", 422, "the job was cancelled",
        "Somebody cancelled the job before it was done.",
        ["run it again"];
    TIME_LIMIT = "time-limit", 422, "the job took too long",
        "A job may work for a limited time and is then ended, as is a stencil whose `while` never ends.",
        ["choose a smaller domain", "check that each `while` ends"];
    CODE_GENERATION_FAILED = "code-generation-failed", 422, "the C compiler refused the generated code",
        "Generated code that the system's C compiler refuses is a fault of ours, or the compiler is too old or broken.",
        ["run with the back end `debug`", "report the stencil"];
    RATE_LIMITED = "rate-limited", 429, "too many wrong tokens",
        "Ten requests with a wrong token within a minute are enough. Requests with the right token are answered all the while.",
        ["wait, then use the token that `isobar serve` printed"];
    INTERNAL = "internal", 500, "the runner made an error",
        "This is a fault of the runner and not of the request. Its log has the report of that name.",
        ["send it again", "report it, with the stencil if you may"];
    JOB_CRASHED = "job-crashed", 500, "the job's process crashed",
        "Each job works in a process of its own, so that a crash costs one job and nothing else. It is a fault of ours, or memory ran out.",
        ["run with the back end `debug`", "choose a smaller domain", "report the stencil"];
    INTERRUPTED = "interrupted", 500, "the runner was ended while the job worked",
        "A runner that is started again takes up the jobs of the one before. A job that worked twice when its runner was ended without notice is not tried again: it may be what ended it.",
        ["choose a smaller domain", "run it again", "report the stencil"];
    OVERLOADED = "overloaded", 503, "the runner has too much to do",
        "The runner takes a limited number of jobs and of connections.",
        ["wait for a job to end, or cancel one"];
    SHUTTING_DOWN = "shutting-down", 503, "the runner is shutting down",
        "The runner was told to end. Jobs that waited, and those that could not end in time, are taken up by the next one where it keeps jobs; else they ended with it.",
        ["start it again, and ask for the job again or run it again"];
    NOT_READY = "not-ready", 503, "the runner lacks something that jobs need",
        "The runner writes to its temporary folder for each job, and keeps compiled code. Where it cannot, jobs fail or take long.",
        ["make room where the runner keeps its files"];
    TIMED_OUT = "timed-out", 504, "the compilation took too long",
        "A compilation that takes this long is given up.",
        ["make the stencil smaller", "report it"];
    NO_ROOM = "no-room", 507, "the runner has no room for the upload",
        "An upload is kept in the runner's temporary folder until its jobs are over, and that takes no more.",
        ["make room where the runner keeps its files", "wait, and send it again"];
}

/// The kind of that code.
#[must_use]
pub fn by_code(code: &str) -> Option<&'static Kind> {
    ALL.iter().copied().find(|it| it.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_every_kind_says_what_to_do() {
        for (at, kind) in ALL.iter().enumerate() {
            assert!(ALL[at + 1..].iter().all(|it| it.code != kind.code), "{}", kind.code);
            assert!(!kind.next.is_empty() && !kind.about.is_empty(), "{}", kind.code);
            assert!((400..600).contains(&kind.status), "{}", kind.code);
        }
    }
}
