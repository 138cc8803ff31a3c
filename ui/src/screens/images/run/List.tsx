import { More } from '@/components/list/Ends';
import { CardHead, List } from '@/components/list/List';
import { Empty, Loaded } from '@/components/States';
import { Duration, Time } from '@/components/Time';
import type { ImageRunLine } from '../types';
import { hasEnded } from './stages';
import { RunStatusBadge } from './StatusBadge';

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
export function RunsList({ query, runs }: { query: Pages; runs: readonly ImageRunLine[] }) {
  return (
    <Loaded query={query} lines={5} what="Loading the runs">
      {() =>
        runs.length === 0 ? (
          <div className="card">
            <Empty title="No runs yet" />
          </div>
        ) : (
          <>
            <List
              lines={runs}
              kind="run"
              idOf={(run) => run.run_id}
              pathOf={pathOf}
              cardClass="image-run"
              card={(run) => <Card run={run} />}
            />
            {query.hasNextPage && (
              <More
                what="runs"
                busy={query.isFetchingNextPage}
                onMore={() => void query.fetchNextPage()}
              />
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Card({ run }: { run: ImageRunLine }) {
  return (
    <>
      <CardHead href={pathOf(run)} name={run.base_prompt}>
        <RunStatusBadge run={run} />
      </CardHead>
      {!hasEnded(run) && (
        <div className="row">
          <span className="bar grow" aria-hidden="true">
            <span style={{ width: `${run.progress_percent}%` }} />
          </span>
          <span className="small muted">{run.stage_message}</span>
        </div>
      )}
      <span className="small muted">
        {`${run.objective_preset} · ${run.n_variants} variants · ${run.image_model} judged by ${run.judge_model} · `}
        <Time at={run.created_at} /> · took <Duration from={run.created_at} to={run.completed_at} />
      </span>
      {run.error && <span className="small bad">{run.error.message}</span>}
    </>
  );
}
