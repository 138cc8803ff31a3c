import type { ReactNode } from 'react';
import { useAgent, useItems, useSuite } from './data';
import { isLive, type EvaluationView } from './result';
import { judgesOf } from './suite';

/** The three roles, each with its model. */
export function Models({ view }: { view: EvaluationView }) {
  const agent = useAgent(view.agent);
  const suite = useSuite(view.suite);
  const { runs } = useItems(view.experiment_id, 'all', '', { live: isLive(view.status) });
  // What wrote the first output is the truth; the agent may have another model by now.
  const wrote = runs.find((run) => run.rounds.length > 0)?.rounds[0]?.model;
  const judges = view.refine?.judges.length
    ? view.refine.judges
    : [...new Set(judgesOf(suite.data).map((judge) => judge.model))];
  return (
    <dl className="card evals-models" aria-label="Models">
      <Role name="Under test" does="writes the first output">
        {wrote ?? agent.data?.model ?? view.agent}
      </Role>
      <Role name="Judge" does="scores every output">
        {judges.length > 0 ? judges.join(', ') : <None>none: rules score the outputs</None>}
      </Role>
      <Role name="Optimizer" does="writes outputs anew">
        {view.refine?.model && view.refine.limit > 0 ? (
          <>
            {view.refine.model}
            {!view.refine.active && <span className="badge warn">inactive</span>}
          </>
        ) : (
          <None>none: outputs are not refined</None>
        )}
      </Role>
    </dl>
  );
}

function Role({ name, does, children }: { name: string; does: string; children: ReactNode }) {
  return (
    <div>
      <dt>
        <span className="evals-role">{name}</span> <span className="muted small">{does}</span>
      </dt>
      <dd className="row">{children}</dd>
    </div>
  );
}

function None({ children }: { children: ReactNode }) {
  return <span className="muted">{children}</span>;
}
