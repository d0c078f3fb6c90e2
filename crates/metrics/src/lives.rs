//! The lifetimes of finished flows and transfers.

use arrow_schema::ArrowError;

use crate::tables::RunTables;

/// The lifetime of a finished flow, alone or in a chain, or of a transfer of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub(crate) flow: u32,
    pub(crate) instance: u32,
    pub(crate) start_s: f64,
    pub(crate) end_s: f64,
    pub(crate) bytes: f64,
    pub(crate) retransmitted: f64,
}

impl Life {
    pub(crate) fn completion_s(&self) -> f64 {
        self.end_s - self.start_s
    }
}

/// All lifetimes of a run of so many flows, by flow and start.
pub(crate) fn lives(tables: &impl RunTables, count: usize) -> Result<Vec<Life>, ArrowError> {
    let mut found = Vec::new();
    let columns = ["flow", "instance", "start_s", "end_s", "size_bytes", "retransmitted"];
    tables.each("completions", &columns, &mut |rows| {
        let (flows, instances) = (rows.numbers("flow")?, rows.numbers("instance")?);
        let (starts, ends) = (rows.numbers("start_s")?, rows.numbers("end_s")?);
        let (sizes, again) = (rows.numbers("size_bytes")?, rows.numbers("retransmitted")?);
        found.extend((0..rows.len()).map(|row| Life {
            flow: flows.key(row),
            instance: instances.key(row),
            start_s: starts.at(row),
            end_s: ends.at(row),
            bytes: sizes.at(row),
            retransmitted: again.at(row),
        }));
        Ok(())
    })?;
    if let Some(life) = found.iter().find(|life| life.flow as usize >= count) {
        let wrong = format!("completions of flow {} of {count}", life.flow);
        return Err(ArrowError::InvalidArgumentError(wrong));
    }
    let order = |life: &Life| (life.flow, life.start_s);
    found.sort_by(|one, other| {
        let ((flow, start_s), (other_flow, other_s)) = (order(one), order(other));
        flow.cmp(&other_flow).then(start_s.total_cmp(&other_s))
    });
    Ok(found)
}

/// The lifetimes of a flow among those by flow.
pub(crate) fn of_flow(lives: &[Life], flow: u32) -> &[Life] {
    let begin = lives.partition_point(|life| life.flow < flow);
    let end = lives.partition_point(|life| life.flow <= flow);
    &lives[begin..end]
}
