//! How many measurements a sweep makes and how long they take, before anything is known of the
//! storage.

use engine::{Permissions, PrepareError};
use workload::EngineChoice;
use workload::sweep::Plan;

use super::{SweepOptions, sweep};
use crate::forecast::{ASSUMED_BYTES, LabForecast, assumed_device, foresee};

/// What a sweep does: as planned, or if its measurements decide that, what it would do on a device
/// that needs no time.
///
/// # Errors
/// The plan cannot be carried out.
pub fn sweep_forecast(plan: &Plan) -> Result<LabForecast, PrepareError> {
    if !plan.adaptive && plan.precision.is_none() {
        return Ok(as_planned(plan));
    }
    let mut plan = plan.clone();
    for target in &mut plan.targets {
        let asked = target.size_bytes.or(plan.size_bytes).unwrap_or(ASSUMED_BYTES);
        target.size_bytes = Some(asked);
    }
    if plan.engine == EngineChoice::Sim {
        plan.settle_seconds = 0.0;
    } else {
        (plan.engine, plan.sim) = (EngineChoice::Sim, Some(assumed_device()));
    }
    foresee(|context| sweep(SweepOptions { plan, permissions: Permissions::default() }, context))
}

/// Every cell for its whole time, in as many rounds as there may be.
fn as_planned(plan: &Plan) -> LabForecast {
    let (_, rounds) = plan.rounds_range();
    let cells = plan.sequence();
    let mut forecast = LabForecast::default();
    for _ in 0..rounds {
        for cell in &cells {
            let before_s = forecast.seconds();
            forecast.push(before_s + plan.times(std::slice::from_ref(cell)).total_s());
        }
    }
    forecast
}
