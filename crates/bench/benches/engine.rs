//! The engine's agenda alone: setting a deadline and finding the earliest.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use narrows_base::{Duration, Stream, Time};
use narrows_sim::agenda::Agenda;

fn agenda(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("agenda");
    for elements in [4usize, 16, 64, 256] {
        let mut agenda = Agenda::new(elements, 3);
        let mut random = Stream::new(1, "bench");
        for element in 0..elements {
            agenda.set(element, Some(Time::from_nanos(random.below(1_000_000))));
        }
        group.bench_function(BenchmarkId::from_parameter(elements), |bencher| {
            bencher.iter(|| {
                let (now, element) = agenda.earliest().expect("every element has a deadline");
                let next = now + Duration::from_nanos(random.below(1_000_000));
                agenda.set(element, Some(next));
                now
            });
        });
    }
    group.finish();
}

criterion_group!(benches, agenda);
criterion_main!(benches);
