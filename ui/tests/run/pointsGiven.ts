import { merge, type Point, type PointsAnswer, type PointSet } from '@/screens/run/points';

/** A point of a run; only what a test is about has to be said. */
export function point(said: Partial<Point> & { number: number }): Point {
  return {
    candidate_id: `c${said.number}`,
    step_index: said.number,
    parents: [],
    kind: 'trial',
    status: 'completed',
    score: 0.5,
    ci_low: null,
    ci_high: null,
    items: 10,
    passed: 5,
    pass_rate: 0.5,
    evaluations: (said.number + 1) * 10,
    cost_usd: 0.01,
    cost_so_far_usd: (said.number + 1) * 0.01,
    avg_tokens: 100,
    avg_latency_ms: 200,
    avg_cost_usd: 0.001,
    created_at: new Date(Date.UTC(2026, 0, 1, 0, said.number)).toISOString(),
    finished_at: new Date(Date.UTC(2026, 0, 1, 0, said.number, 30)).toISOString(),
    rationale: null,
    error: null,
    experiment_id: `e${said.number}`,
    ...said,
  };
}

/** As the server sends them. */
export function answerOf(points: readonly Point[], lastEventId = 1): PointsAnswer {
  const names = Object.keys(point({ number: 0 })) as (keyof Point)[];
  const columns = Object.fromEntries(
    names.map((name) => [name, points.map((one) => one[name])]),
  ) as unknown as PointsAnswer['columns'];
  return {
    optimization_id: 'o',
    last_event_id: lastEventId,
    best_candidate_id: null,
    count: points.length,
    columns,
  };
}

export function setOf(points: readonly Point[], best: string | null = null): PointSet {
  return { ...merge(undefined, answerOf(points)), best };
}
