//! Runs of a class: one, or step after step.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::call::run::Control;
use isobar_compiler::call::signature::Signature;
use isobar_compiler::diag;
use isobar_compiler::inputs::call_for;
use isobar_compiler::space::Domain;
use isobar_program::analysis::interface::signature;
use isobar_program::group::group_calls;
use isobar_program::interpret::{ProgramBytes, ProgramInputs, ProgramInstance, ProgramStop, StencilRunner};
use isobar_protocol::bench::CallStep;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::fields::ResultField;
use isobar_protocol::request::Request;
use isobar_protocol::why::Why;

use crate::calls::call_steps;
use crate::opened::{OpenedClass, ProgramChoice, USUAL_HALO};

/// Why a run does not begin, or ended early.
#[derive(Debug)]
pub struct ClassStop {
    pub why: Why,
    pub diagnostics: Vec<Diagnostic>,
}

/// Settings of a run that no request has.
pub struct RunSetting<'a> {
    /// Fields of the caller, in the place of generators.
    pub fields: BTreeMap<String, Array>,
    /// Whether lines such as `# @input` make the fields and scalars that the caller leaves out.
    pub makes_inputs: bool,
    /// Whether calls that stand behind each other become one piece of code.
    pub joins_calls: bool,
    /// Whether locals share memory, as those of compiled code do.
    pub shares_memory: bool,
    /// Is told the bytes of all fields before they are made; its error ends the run.
    pub admits: &'a dyn Fn(ProgramBytes) -> Result<(), Why>,
}

impl fmt::Debug for RunSetting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunSetting").field("fields", &self.fields.keys()).finish_non_exhaustive()
    }
}

/// A class between two runs, with its state and the caller's fields.
#[derive(Debug)]
pub struct ClassRun {
    /// The request that the runs began with, without its scalars.
    of: Request,
    opened: OpenedClass,
    signature: Signature,
    instance: ProgramInstance,
    inputs: ProgramInputs,
    makes_inputs: bool,
    n_runs: u64,
}

impl ClassRun {
    /// Compiles a class, and makes the fields that the setting does not give.
    ///
    /// # Errors
    ///
    /// Why nothing can run.
    pub fn begin(request: &Request, choice: &ProgramChoice, setting: RunSetting) -> Result<Self, ClassStop> {
        let mut opened = OpenedClass::of(request, choice, USUAL_HALO);
        let Some(mut program) = opened.compilation.program.take() else {
            return Err(stop(&opened, Why::HasErrors, &opened.compilation.diagnostics));
        };
        if setting.joins_calls {
            group_calls(&mut program);
        }
        let signature = signature(&program);
        let directives = request.generators(&opened.directives, &signature);
        let directives = directives.map_err(|it| stop(&opened, it, &[]))?;
        let fill = opened.fill(request);
        let [i, j, k] = opened.domain;
        let is_domain = opened.domain.iter().all(|it| (1..=Domain::MAX_ALONG_AXIS).contains(it));
        if is_domain {
            let (fronts, domain) = (&mut opened.compilation.fronts, Domain::new(i, j, k));
            let bytes = if setting.shares_memory {
                ProgramBytes::sharing(&program, fronts, domain)
            } else {
                ProgramBytes::of(&program, domain)
            };
            (setting.admits)(bytes).map_err(|it| stop(&opened, it, &[]))?;
        }
        let fronts = &mut opened.compilation.fronts;
        let made = ProgramInstance::new(&program, fronts, opened.domain, fill, u64::MAX);
        let instance = made.map_err(|it| stop(&opened, Why::NotCallable, &it))?;
        let mut inputs = ProgramInputs::default();
        if setting.makes_inputs {
            let call = call_for(&signature, &directives, Domain::new(i, j, k));
            inputs = ProgramInputs { fields: call.fields, scalars: call.scalars };
        }
        inputs.fields.extend(setting.fields);
        let (of, makes_inputs) = (Self::kept(request), setting.makes_inputs);
        let mut run = Self { of, opened, signature, instance, inputs, makes_inputs, n_runs: 0 };
        run.set_scalars(request)?;
        Ok(run)
    }

    /// The part of a request that runs of one class share.
    fn kept(request: &Request) -> Request {
        Request { scalars: BTreeMap::new(), ..request.clone() }
    }

    /// Whether a request goes on where this run is: at most its scalars differ.
    #[must_use]
    pub fn is_of(&self, request: &Request) -> bool {
        self.of == Self::kept(request)
    }

    /// Gives scalars the values of the request, and of the text where that has none.
    ///
    /// # Errors
    ///
    /// The values that are no scalars.
    pub fn set_scalars(&mut self, request: &Request) -> Result<(), ClassStop> {
        let of_text = self.opened.directives.scalars.iter().filter(|_| self.makes_inputs);
        self.inputs.scalars.extend(of_text.map(|it| (it.name.clone(), it.value)));
        let given = request.scalar_inputs();
        let given = given.map_err(|it| stop(&self.opened, Why::ScalarIsNoNumber, &it))?;
        self.inputs.scalars.extend(given);
        let known: BTreeSet<&str> = self.instance.scalar_arguments().collect();
        self.inputs.scalars.retain(|name, _| known.contains(name.as_str()));
        Ok(())
    }

    /// The program with its state, for those who make code of it.
    #[must_use]
    pub fn instance(&self) -> &ProgramInstance {
        &self.instance
    }

    /// The fields and scalars that a caller gives.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The compute domain.
    #[must_use]
    pub fn domain(&self) -> Domain {
        let [i, j, k] = self.opened.domain;
        Domain::new(i, j, k)
    }

    /// Files, lines and columns, for diagnostics about its text.
    #[must_use]
    pub fn places(&self) -> SpanResolver<'_> {
        self.opened.places()
    }

    /// How often it has run.
    #[must_use]
    pub fn n_runs(&self) -> u64 {
        self.n_runs
    }

    /// Has `fit` look at the arrays of a run, before that: what depends on their sizes can be made then.
    ///
    /// # Errors
    ///
    /// Inputs that do not fit, and what `fit` answers.
    pub fn prepare(
        &mut self,
        fit: impl FnOnce(&mut ProgramInstance, &mut ProgramInputs) -> Result<(), ProgramStop>,
    ) -> Result<(), ClassStop> {
        let fitted = fit(&mut self.instance, &mut self.inputs);
        fitted.map_err(|it| self.stopped(it))
    }

    /// Runs it once; `runner` runs its stencils.
    ///
    /// # Errors
    ///
    /// Where and why the run ended early.
    pub fn advance(
        &mut self,
        runner: &mut dyn StencilRunner,
        control: &mut dyn Control,
    ) -> Result<(), ClassStop> {
        let ended = self.instance.run_with(&mut self.inputs, runner, control);
        ended.map_err(|it| self.stopped(it))?;
        self.n_runs += 1;
        Ok(())
    }

    /// The same, and answers how often each statement ran and how long. `now` tells milliseconds.
    ///
    /// # Errors
    ///
    /// As for [`advance`](Self::advance).
    pub fn advance_measured(
        &mut self,
        runner: &mut dyn StencilRunner,
        control: &mut dyn Control,
        now: &dyn Fn() -> f64,
    ) -> Result<Vec<CallStep>, ClassStop> {
        let ended = self.instance.run_measured(&mut self.inputs, runner, control, now);
        let (_, measures) = ended.map_err(|it| self.stopped(it))?;
        self.n_runs += 1;
        Ok(call_steps(self.instance.program(), &measures, self.opened.domain, &self.opened.places()))
    }

    fn stopped(&self, stopped: ProgramStop) -> ClassStop {
        match stopped {
            ProgramStop::Cancelled => stop(&self.opened, Why::Stopped, &[]),
            ProgramStop::Fault(found) => {
                let said = found.first().map(|it| it.message.clone()).unwrap_or_default();
                stop(&self.opened, Why::Said(said), &found)
            }
        }
    }

    /// The arguments, with the fields as the last run left them.
    #[must_use]
    pub fn into_launch(mut self) -> (Signature, Launch) {
        let containers = &self.instance.program().containers;
        let argument = |name: &String| {
            let array = self.inputs.fields.remove(name)?;
            let container = containers.values().find(|it| it.name == *name)?;
            Some(Argument::Field(FieldArgument { array, origin: container.origin }))
        };
        let names = self.signature.params.iter().map(|it| &it.name);
        let arguments = names.map(argument).map(|it| it.unwrap_or(Argument::Unused)).collect();
        (self.signature.clone(), Launch { domain: self.domain(), arguments })
    }

    /// Copies of the fields that are written.
    #[must_use]
    pub fn written(&self) -> Vec<ResultField> {
        let domain = self.opened.domain;
        let fields = self.instance.results().filter_map(|it| {
            let array = self.inputs.fields.get(&it.name)?.clone();
            let data = it.data_dims.iter().map(|&it| u64::from(it));
            let origin = it.axes.iter().map(|axis| it.origin[axis.index()]);
            let points = it.axes.iter().map(|axis| u64::try_from(domain[axis.index()]).unwrap_or(0));
            let origin = origin.chain(data.clone().map(|_| 0)).collect();
            let points = points.chain(data).collect();
            Some(ResultField::new(&it.name, &it.axes.to_string(), array, origin, points))
        });
        fields.collect()
    }
}

fn stop(opened: &OpenedClass, why: Why, found: &[diag::Diagnostic]) -> ClassStop {
    ClassStop { why, diagnostics: opened.told(found) }
}
