//! The way of the text through the levels.

use isobar_compiler::front::stage::StageOrigin;
use isobar_compiler::pipeline::Stage;

use crate::bridge::locale::t;

/// The levels of the way to loops and kernels, each made from the one before.
#[must_use]
pub fn way() -> Vec<Stage> {
    let mut way = vec![Stage::KERNELS];
    while let Some(StageOrigin::Lowered(from) | StageOrigin::Passed(from)) = way.last().map(|it| it.from()) {
        way.push(from);
    }
    way.reverse();
    way
}

/// The stages that are made from the levels but are not on the way: operations on whole arrays, and texts. The program
/// stands before all of them.
#[must_use]
pub fn beside() -> Vec<Stage> {
    let way = way();
    Stage::ALL.into_iter().filter(|it| !way.contains(it) && *it != Stage::PROGRAM).collect()
}

/// Describes a stage to readers who see its name for the first time: [`Stage::about`] in the reader's
/// language.
#[must_use]
pub fn about(stage: Stage) -> &'static str {
    match stage.name() {
        "program" => t!("state-stage-about-program"),
        "definition" => t!("state-stage-about-definition"),
        "gtir" => t!("state-stage-about-gtir"),
        "oir" => t!("state-stage-about-oir"),
        "npir" => t!("state-stage-about-npir"),
        "tree" => t!("state-stage-about-tree"),
        "schedule" => t!("state-stage-about-schedule"),
        "sdfg" => t!("state-stage-about-sdfg"),
        "loops" => t!("state-stage-about-loops"),
        "kernels" => t!("state-stage-about-kernels"),
        "python" => t!("state-stage-about-python"),
        "numpy" => t!("state-stage-about-numpy"),
        "c" => t!("state-stage-about-c"),
        "cuda" => t!("state-stage-about-cuda"),
        "wgsl" => t!("state-stage-about-wgsl"),
        _ => stage.about(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_leads_from_the_definition_to_kernels() {
        assert_eq!(way().first(), Some(&Stage::DEFINITION));
        assert_eq!(way().last(), Some(&Stage::KERNELS));
        assert!(beside().contains(&Stage::NPIR) && beside().contains(&Stage::C));
        assert_eq!(way().len() + beside().len() + 1, Stage::ALL.len());
    }

    #[test]
    fn what_a_stage_is_about_is_said_in_english_as_the_compiler_says_it() {
        for stage in Stage::ALL {
            assert_eq!(about(stage), stage.about(), "{stage}");
        }
    }
}
