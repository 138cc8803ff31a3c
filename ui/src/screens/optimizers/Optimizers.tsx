import { Link, useLocation } from 'wouter';
import { Card } from '@/components/Card';
import { SearchInput } from '@/components/list/SearchBox';
import { Page } from '@/components/shell/Page';
import { Empty, Loaded } from '@/components/States';
import { Status } from '@/components/Status';
import { Change } from '@/components/Numbers';
import { Time } from '@/components/Time';
import { useAddress } from '@/lib/address';
import { useRows } from '@/lib/rows';
import { cronWords } from './cron';
import { useConfigs, usePastRuns, type Config } from './data';

export function placeOf(config: { agent_name: string; name: string }): string {
  return `/optimizers/${encodeURIComponent(config.agent_name)}/${encodeURIComponent(config.name)}`;
}

/** Optimizers that are kept with an agent: run by hand or by a schedule. */
export default function Optimizers() {
  const address = useAddress();
  const configs = useConfigs();
  const first = configs.agents.data?.items[0]?.name;
  const sought = address.get('q').toLowerCase();
  return (
    <Page
      title="Optimizers"
      actions={
        <>
          <SearchInput
            label="Search optimizers"
            placeholder="Search"
            value={address.get('q')}
            onChange={(q) => address.set({ q })}
          />
          {first && (
            <Link className="btn primary" href={`/optimizers/${encodeURIComponent(first)}/new`}>
              New optimizer
            </Link>
          )}
        </>
      }
    >
      <Card flush>
        <Loaded query={configs}>
          {(all) => (
            <List
              configs={all.filter((one) =>
                `${one.name} ${one.agent_name} ${String(one.config.optimizer)}`
                  .toLowerCase()
                  .includes(sought),
              )}
              searching={sought !== ''}
              ready={first !== undefined}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

function List({
  configs,
  searching,
  ready,
}: {
  configs: readonly Config[];
  searching: boolean;
  /** Whether there is an agent to keep one for. */
  ready: boolean;
}) {
  const [, go] = useLocation();
  const open = (index: number) => {
    const config = configs[index];
    if (config) go(placeOf(config));
  };
  const [selected, select] = useRows(configs.length, open);
  if (configs.length === 0)
    return (
      <Empty title={searching ? 'None is called so' : 'No optimizer is kept yet'}>
        {!searching && (
          <>
            <p>One that is kept can be run again with one click, by a schedule, and over HTTP.</p>
            {!ready && (
              <Link className="btn small" href="/agents?new=1">
                Make the agent that it improves
              </Link>
            )}
          </>
        )}
      </Empty>
    );
  return (
    <div className="table-wrap">
      <table className="table table-cards">
        <thead>
          <tr>
            <th>Name</th>
            <th>Agent</th>
            <th>Optimizer</th>
            <th>Runs</th>
            <th>Next</th>
            <th>Last run</th>
          </tr>
        </thead>
        <tbody>
          {configs.map((config, index) => (
            <tr
              key={config.optimizer_id}
              className="link"
              data-row={index}
              data-selected={index === selected}
              onClick={() => {
                select(index);
                open(index);
              }}
            >
              <td data-label="Name">
                <Link href={placeOf(config)} onClick={(event) => event.stopPropagation()}>
                  {config.name}
                </Link>{' '}
                <span className="muted small">version {config.version}</span>
              </td>
              <td data-label="Agent">{config.agent_name}</td>
              <td data-label="Optimizer">
                <span className="badge accent">{String(config.config.optimizer)}</span>
              </td>
              <td data-label="Runs" className="small">
                {cronWords(
                  config.config.schedule as string | null,
                  config.config.schedule_timezone as string,
                )}
              </td>
              <td data-label="Next">
                <Time at={config.next_run_at} />
              </td>
              <td data-label="Last run">
                <LastRun config={config} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function LastRun({ config }: { config: Config }) {
  const runs = usePastRuns(config.agent_name, config.name, 1);
  const run = runs.data?.items[0];
  if (!run) return <span className="muted">{runs.data ? 'never' : '…'}</span>;
  const delta =
    run.best_score !== null && run.baseline_score !== null
      ? Number(run.best_score) - Number(run.baseline_score)
      : null;
  return (
    <span className="row">
      <Status value={run.status} />
      {delta !== null && <Change value={delta} />}
      <Time at={run.started_at} />
    </span>
  );
}
