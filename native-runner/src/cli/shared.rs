//! Options that several commands take, and which of them a command takes.

use std::ops::Deref;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::Format;

/// The meaning of the text: its stencil, modules, values and types.
pub(super) const TEXT: u16 = 1 << 0;
/// A schedule by hand.
pub(super) const SCHEDULE: u16 = 1 << 1;
/// The machine that schedules are made for, and passes that are left out.
pub(super) const MACHINE: u16 = 1 << 2;
pub(super) const MODE: u16 = 1 << 3;
/// Whether a kept schedule is taken.
pub(super) const TUNED: u16 = 1 << 4;
/// Also what the text means: NDSL's `k_end` is the last level of the domain.
pub(super) const DOMAIN: u16 = 1 << 5;
/// Arrays, their origins, and scalars.
pub(super) const CALL: u16 = 1 << 6;
pub(super) const OUT: u16 = 1 << 7;
pub(super) const RUNNER: u16 = 1 << 8;

/// Each option with what it belongs to; all commands take those that are not listed.
const BELONG: [(u16, &[&str]); 9] = [
    (
        TEXT,
        &["stencil", "modules", "externals", "dtypes", "precision", "constants", "tile", "minmax", "modulo"],
    ),
    (SCHEDULE, &["schedule"]),
    (MACHINE, &["machine", "skip"]),
    (MODE, &["mode"]),
    (TUNED, &["no_tuned"]),
    (DOMAIN, &["domain"]),
    (CALL, &["origin", "fields", "scalars"]),
    (OUT, &["out"]),
    (RUNNER, &["runner"]),
];

/// The options of a command that takes these kinds of them. Others are unknown to it, and its help does not have them.
#[derive(Clone, Debug, Default)]
pub struct Taking<const KINDS: u16>(Shared);

impl<const KINDS: u16> Taking<KINDS> {
    fn others() -> impl Iterator<Item = &'static str> {
        BELONG.iter().filter(|(kind, _)| kind & KINDS == 0).flat_map(|(_, names)| names.iter().copied())
    }
}

impl<const KINDS: u16> Deref for Taking<KINDS> {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl<const KINDS: u16> From<Taking<KINDS>> for Shared {
    fn from(taking: Taking<KINDS>) -> Self {
        taking.0
    }
}

impl<const KINDS: u16> Args for Taking<KINDS> {
    fn augment_args(command: Command) -> Command {
        // An option that is read back has to be declared: it is hidden and refused, and not left out.
        Self::others()
            .fold(Shared::augment_args(command), |command, it| command.mut_arg(it, |it| it.hide(true)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const KINDS: u16> FromArgMatches for Taking<KINDS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        refuse(matches, Self::others())?;
        Shared::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        refuse(matches, Self::others())?;
        Shared::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        refuse(matches, Self::others())?;
        self.0.update_from_arg_matches(matches)
    }
}

fn refuse(matches: &ArgMatches, others: impl Iterator<Item = &'static str>) -> Result<(), clap::Error> {
    for name in others {
        if matches.value_source(name) == Some(ValueSource::CommandLine) {
            let option = Shared::augment_args(Command::new(""));
            let option = option.get_arguments().find(|it| it.get_id() == name).and_then(|it| it.get_long());
            let told = format!("this command has no option '--{}'; see its --help\n", option.unwrap_or(name));
            return Err(clap::Error::raw(ErrorKind::UnknownArgument, told));
        }
    }
    Ok(())
}

/// Options of everything that compiles.
#[derive(Clone, Debug, Default, Args)]
pub struct Shared {
    /// Which stencil; may be left out when the file has one. Where several have one name: `Class.name`, `function.name`.
    /// The name of a class, or `Class:method`, runs its method as a program
    #[arg(long, value_name = "NAME")]
    pub stencil: Option<String>,
    /// A further file or folder of modules; repeatable
    #[arg(long = "module", value_name = "PATH")]
    pub modules: Vec<PathBuf>,
    /// Values of `from __externals__ import ...`: {"name": 1.5, "flag": true, "fn": {"function": "name"}}. Of a class:
    /// arguments of its constructor
    #[arg(long, value_name = "FILE.json")]
    pub externals: Option<PathBuf>,
    /// Types by name: {"float": "float32", "my_type": "float64"}
    #[arg(long, value_name = "FILE.json")]
    pub dtypes: Option<PathBuf>,
    /// Bits of literals and of NDSL's Float and Int
    #[arg(long, value_name = "32|64", value_parser = clap::builder::PossibleValuesParser::new(["32", "64"]))]
    pub precision: Option<String>,
    /// Physical constants that `ndsl.constants` holds
    #[arg(long, value_name = "SET", value_parser = clap::builder::PossibleValuesParser::new(["UFS", "GFDL", "GEOS"]))]
    pub constants: Option<String>,
    /// Place of the domain on its tile, which decides the values of `i_start`, `local_js` and their like
    #[arg(
        long,
        value_name = "PLACE",
        value_parser = clap::builder::PossibleValuesParser::new(["single", "interior", "west", "east", "south", "north"])
    )]
    pub tile: Option<String>,
    /// Result of `min` and `max` where an operand is NaN: NaN as NumPy does, or the first operand as C++ does
    #[arg(long, value_name = "numpy|c", value_parser = clap::builder::PossibleValuesParser::new(["numpy", "c"]))]
    pub minmax: Option<String>,
    /// Sign of `%` and `mod`: the divisor's as in NumPy, or the dividend's as in C
    #[arg(long = "mod", value_name = "numpy|c", value_parser = clap::builder::PossibleValuesParser::new(["numpy", "c"]))]
    pub modulo: Option<String>,
    /// Run the loops as this document says, step by step, instead of as the compiler would choose. `isobar
    /// emit FILE --stage schedule --steps` prints the compiler's choice
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Run as the compiler chooses, also where `isobar tune` has kept a faster schedule
    #[arg(long)]
    pub no_tuned: bool,
    /// Target of the schedule: a file like `machine` in `isobar backends --format json`, or `here` for this
    /// machine. Without, a run is scheduled for the machine that it runs on, and printed schedules for a
    /// common machine
    #[arg(long, value_name = "FILE.json|here")]
    pub machine: Option<PathBuf>,
    /// `reproducible`, the bits of `debug`, or `fast`, where `openmp` may compute other last bits
    #[arg(long, value_name = "MODE", value_parser = clap::builder::PossibleValuesParser::new(["reproducible", "fast"]))]
    pub mode: Option<String>,
    /// Leave this pass out, as `oir/prune-regions`; no result changes. Repeatable
    #[arg(long, value_name = "PASS")]
    pub skip: Vec<String>,
    /// Points of the compute domain; without, that of the file's `# @domain` line, or the largest that the
    /// fields have room for
    #[arg(long, value_name = "I,J,K", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    pub domain: Vec<i64>,
    /// Index of the first compute point in the arrays: {"_all_": [3, 3, 0], "phi": [1, 1, 0]}; without, 0
    #[arg(long, value_name = "FILE.json")]
    pub origin: Option<PathBuf>,
    /// Arrays by parameter name, as `numpy.savez` writes them, the fields that are only written too
    #[arg(long, value_name = "FILE.npz")]
    pub fields: Option<PathBuf>,
    /// Values of scalar parameters: {"alpha": 0.1}
    #[arg(long, value_name = "FILE.json")]
    pub scalars: Option<PathBuf>,
    /// Where the written fields go: whole arrays, halo included. It is replaced when the run is over
    #[arg(long, value_name = "FILE.npz")]
    pub out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Do it on this runner instead of here; the token comes from ISOBAR_TOKEN
    #[arg(long, value_name = "URL")]
    pub runner: Option<String>,
    /// All of the above in one document, the same that the HTTP API takes; options go before its entries
    #[arg(long, value_name = "FILE.json")]
    pub request: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_that_belongs_to_something_is_one() {
        let command = Shared::augment_args(Command::new(""));
        for name in BELONG.iter().flat_map(|it| it.1) {
            assert!(command.get_arguments().any(|it| it.get_id() == name), "{name}");
        }
        let free = |it: &clap::Arg| !BELONG.iter().any(|(_, names)| names.contains(&it.get_id().as_str()));
        let free: Vec<&str> =
            command.get_arguments().filter(|it| free(it)).map(|it| it.get_id().as_str()).collect();
        assert_eq!(free, ["format", "request"]);
    }
}
