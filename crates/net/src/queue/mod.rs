//! Queue disciplines decide which packet goes next, and which packets are dropped or marked.

mod any;
mod cake;
mod codel;
mod control_law;
mod discipline;
mod docsis_pie;
mod drop_tail;
mod dualpi2;
mod entry;
mod flow_hash;
mod fq;
mod fq_codel;
mod fq_pie;
pub(crate) mod htb;
mod limit;
mod pie;
mod red;
mod red_average;
mod registry;
mod sfq;
pub(crate) mod tbf;
#[cfg(test)]
mod testing;
mod turns;
mod verdicts;
mod waiting;

pub use any::Queue;
pub use cake::{Cake, CakeParams, Cells, Diffserv, Framing, Isolation};
pub use codel::{CoDel, CoDelParams};
pub use control_law::SquareRoot;
pub use discipline::QueueDiscipline;
pub use docsis_pie::{DocsisPie, DocsisPieParams};
pub use drop_tail::DropTail;
pub use dualpi2::{DualPi2, DualPi2Params};
pub(crate) use entry::SHORTEST_PERIOD;
pub use fq::{Fq, FqParams};
pub use fq_codel::{FqCoDel, FqCoDelParams};
pub use fq_pie::{FqPie, FqPieParams};
pub use htb::{Htb, HtbClass, HtbParams, Shape};
pub use limit::Limit;
pub use pie::{Pie, PieParams};
pub use red::{Red, RedParams};
pub use registry::{QUEUES, fits, queue};
pub use sfq::{Sfq, SfqParams};
pub use tbf::{Tbf, TbfParams};
pub use verdicts::Verdicts;
