import { Link, useLocation } from 'wouter';
import { Empty, Failure, Loading } from '@/components/States';
import { Duration, Time } from '@/components/Time';
import { useRows } from '@/lib/rows';
import { hasEnded, percentOf, stageMessage } from './stages';
import { RunStatusBadge } from './StatusBadge';
import type { ImageRunLine } from '../types';

interface Pages {
  data: unknown;
  error: Error | null;
  refetch(): unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

const pathOf = (run: ImageRunLine) =>
  `/workbench/${encodeURIComponent(run.project_id)}/eval?${new URLSearchParams({
    run: run.run_id,
    ...(run.parent_commit_id && { parent: run.parent_commit_id }),
  })}`;

/** The runs of a project, the newest first. */
export function RunsTable({ query, runs }: { query: Pages; runs: readonly ImageRunLine[] }) {
  const [, go] = useLocation();
  const [selected] = useRows(runs.length, (index) => {
    const run = runs[index];
    if (run) go(pathOf(run));
  });
  if (query.data === undefined)
    return query.error ? (
      <Failure error={query.error} retry={() => void query.refetch()} />
    ) : (
      <Loading lines={5} what="Loading the runs" />
    );
  if (runs.length === 0)
    return (
      <div className="card">
        <Empty title="No runs yet" />
      </div>
    );
  return (
    <>
      <ul className="image-runs">
        {runs.map((run, index) => (
          <li
            key={run.run_id}
            className="card image-run"
            data-row={index}
            data-run={run.run_id}
            data-selected={index === selected}
          >
            <div className="row between">
              <Link href={pathOf(run)} className="image-run-link">
                {run.base_prompt}
              </Link>
              <RunStatusBadge run={run} />
            </div>
            {!hasEnded(run) && (
              <div className="row">
                <span className="bar grow" aria-hidden="true">
                  <span style={{ width: `${percentOf(run)}%` }} />
                </span>
                <span className="small muted">{stageMessage(run)}</span>
              </div>
            )}
            <span className="small muted">
              {`${run.objective_preset} · ${run.n_variants} variants · ${run.image_model} judged by ${run.judge_model} · `}
              <Time at={run.created_at} /> · took{' '}
              <Duration from={run.created_at} to={run.completed_at} />
            </span>
            {run.error && <span className="small bad">{run.error.message}</span>}
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <button
          type="button"
          className="btn more"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {query.isFetchingNextPage ? 'Loading…' : 'Show more runs'}
        </button>
      )}
    </>
  );
}
