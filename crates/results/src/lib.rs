//! What was measured, as plain data: the documents that every other crate reads, and the histogram
//! that they carry.
//!
//! A [`Measurement`] is one workload on one set of targets; an [`Assessment`] is a list of
//! measurements and what was concluded from them. Both are written as JSON under a versioned schema
//! name. Nothing here measures or judges.

mod assessment;
mod capture;
mod captured_files;
mod captured_load;
mod comparison;
mod conclusions;
mod conditions;
mod csv;
mod cycle;
mod document;
mod durability;
mod environment;
mod experiment;
mod figures;
mod fit;
mod fleet;
mod fleet_job;
mod histogram;
mod json;
mod kinds;
mod matrix;
mod measurement;
mod recording;
mod replay;
mod runs;
mod saturation;
mod scale;
mod schemas;
mod sizes;
mod sweep;
mod trace_model;
mod trend;
mod validation;

pub use assessment::{
    ASSESSMENT_SCHEMA, AssessedHost, Assessment, BesideLoad, MixedLoads, OfferedLoad, Pace,
    PatternResult, Ramp, Repeats,
};
pub use capture::{
    Capture, CaptureEnding, CapturedBursts, CapturedCache, CapturedDepth, CapturedDevice,
    CapturedKind, CapturedLatency, CapturedLocality, CapturedOp, CapturedPeak, CapturedPoint,
    CapturedPurpose, CapturedSequence, CapturedSize, CapturedSpan, CapturedWrites, HotPart,
    LatencyClass,
};
pub use captured_files::{
    CapturedClass, CapturedDatabase, CapturedFile, CapturedFileClass, CapturedFiles,
    CapturedPattern,
};
pub use captured_load::{CapturedLimit, CapturedLoad, CapturedVerdict};
pub use comparison::{
    COMPARISON_SCHEMA, ComparedFigure, ComparedLoad, Comparison, Figure, FigureUnit, Side,
    SideDifference, SideResult,
};
pub use conclusions::{
    agreement, alignment, cause, change, claims, contradiction, edge, honesty, knee, levels, noise,
    phases, scaling, steady, verdict,
};
pub use conditions::{Conditions, Difference, StreamConditions};
pub use csv::csv_field;
pub use cycle::{Cycle, CycleRun};
pub use document::{Document, DocumentError};
pub use durability::{
    BrokenPromise, CheckedArea, Durability, DurabilityVerdict, DurableOrder, InDoubt, Loss,
    LossCount, SyncMode, WriterEnd, WrittenFile, WrittenRole,
};
pub use environment::Environment;
pub use experiment::{Conclusion, Experiment};
pub use figures::{
    FIGURES, FigureField, FigureKind, FigureType, FigureValue, Load, PartOf, Unit, WrongFigure,
    figure,
};
pub use fit::{Fit, FitAttempt, FitCause, FitEdge, FitLimit, FitResult, FitSide};
pub use fleet::{Fleet, FleetHost, FleetMerged, FleetWindow, OnLoss};
pub use fleet_job::{FleetJob, FleetJobHost, FleetVerdict};
pub use histogram::{EncodingError, Histogram};
pub use json::{list_to_indented_json, null_for_nan, to_indented_json, whole_part};
pub use kinds::{KINDS, Kind, json_schemas, kind_words};
pub use matrix::{CellOutcome, Interference, MatrixCell, ReadWriteMatrix, WriteCost, WriteLimit};
pub use measurement::{
    Checks, Cpu, Engine, ErrorKind, ErrorRecord, HostMeasurement, IntervalSpread, Kernel, Latency,
    MEASUREMENT_SCHEMA, Measurement, Origin, Point, Stalls, Statistics, Status, StreamResult,
    TargetResult, ThreadPoint, ThreadResult,
};
pub use recording::{
    AlertTime, AttachedSeries, DiskTotal, Figures, FoundBy, RecordedAlert, RecordedCommand,
    RecordedDatabase, RecordedPoint, RecordedRow, RecordedRun, RecordedTotals, Recording,
    figures_of, show_figure,
};
pub use replay::{
    Replay, ReplayMap, ReplayPoint, ReplayResult, ReplayTiming, ReplayedClass, TracePart,
};
pub use runs::Runs;
pub use saturation::{CurveLoad, Decides, Purpose, Saturation, Split, WithinLatency};
pub use scale::{Scale, ScaleUnit, TargetAlone, TargetsTogether};
pub use sizes::{SizeResult, Sizes, Warmed};
pub use sweep::{
    Refinement, Source, Sweep, SweptCell, SweptCheck, SweptCurve, SweptRounds, TrackedCell,
};
pub use trace_model::{
    ModelledArrivals, ModelledClass, ModelledDevice, ModelledStream, TraceModel,
};
pub use trend::{
    Capacity, DRIFT_SCHEMA, Drift, DriftLoad, TREND_SCHEMA, Trend, TrendLoad, TrendPoint,
};

pub use validation::{
    DatabaseWork, FailedIos, FaultCount, FileIos, FileThrottling, LogBlockFault, NEWER_BECAUSE,
    PageDamage, PageFault, PagePlace, PageTouch, Persistence, ResumedRun, ValidatedFile,
    Validation, ValidationPhase, ValidationVerdict, WrongSector, still_wrong,
};

pub use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
pub use schemas::{COMPUTED, published_schema};

/// The JSON Schema of one of the documents.
#[must_use]
pub fn schema_of<T: schemars::JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(join_lines));
    settings.into_generator().into_root_schema_for::<T>()
}

/// A paragraph of a description is one line, wherever the source wraps it.
fn join_lines(schema: &mut Schema) {
    if let Some(serde_json::Value::String(text)) = schema.get_mut("description") {
        let paragraphs: Vec<_> = text.split("\n\n").map(|text| text.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n");
    }
}
