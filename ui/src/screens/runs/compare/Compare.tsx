import { useQueries } from '@tanstack/react-query';
import { Link } from 'wouter';
import { answer, api } from '@/api/client';
import { Card } from '@/components/Card';
import { ConfigurationDiff } from '@/components/configuration/Diff';
import { Choice } from '@/components/form/Choice';
import { Page } from '@/components/shell/Page';
import { Empty, Failure, Loading } from '@/components/States';
import { useAddress } from '@/lib/address';
import { asConfiguration, type AgentConfiguration } from '@/lib/configurations';
import { isOpen, type RunView } from '@/screens/run/view';
import { idsIn, measuresOf } from './measures';
import '../runs.css';

const CRUMBS = [{ label: 'Runs', to: '/runs' }];
const LOOK_MS = 5_000;

/** Several runs side by side: scores, intervals, spend, why each ended, and their prompts. */
export default function CompareRuns() {
  const ids = idsIn(useAddress().get('runs'));
  const queries = useQueries({ queries: ids.map(runQuery) });
  const runs = queries.flatMap((query) => (query.data ? [query.data] : []));
  const failed = queries.find((query) => query.error && !query.data);
  return (
    <Page
      title="Compare runs"
      crumbs={CRUMBS}
      actions={
        <Link className="btn" href={`/runs?pick=${ids.join(',')}`}>
          Choose others
        </Link>
      }
    >
      {failed?.error && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {ids.length < 2 ? (
        <Empty title="Choose two runs or more">
          <p>Tick them in the list of runs.</p>
          <Link className="btn small" href="/runs">
            Runs
          </Link>
        </Empty>
      ) : runs.length < ids.length && !failed ? (
        <Loading lines={10} what="Loading the runs" />
      ) : (
        <>
          <Measures runs={runs} />
          {runs.length > 1 && <Prompts runs={runs} />}
        </>
      )}
    </Page>
  );
}

function runQuery(id: string) {
  return {
    queryKey: ['run', id],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}', {
          params: { path: { optimization_id: id } },
        }),
      ),
    refetchInterval: (one: { state: { data?: RunView } }) =>
      one.state.data && isOpen(one.state.data) ? LOOK_MS : (false as const),
  };
}

function Measures({ runs }: { runs: readonly RunView[] }) {
  return (
    <Card flush>
      <div className="table-wrap" tabIndex={0} role="region" aria-label="Runs side by side">
        <table className="table runs-compare">
          <thead>
            <tr>
              <th scope="col">Run</th>
              {runs.map((run) => (
                <th key={run.optimization_id} scope="col">
                  <Link href={`/runs/${run.optimization_id}`}>{run.name}</Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {measuresOf(runs).map((measure) => (
              <tr key={measure.label}>
                <th scope="row">{measure.label}</th>
                {measure.values.map((value, index) => (
                  <td key={index}>
                    {measure.best[index] ? (
                      <strong>
                        {value} <span className="badge good">best</span>
                      </strong>
                    ) : (
                      value
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** The winners' prompts of two of them; a run without one has its baseline. */
function Prompts({ runs }: { runs: readonly RunView[] }) {
  const address = useAddress();
  const place = (name: string, other: number) => {
    const at = runs.findIndex((run) => run.optimization_id === address.get(name));
    return runs[at < 0 ? other : at] as RunView;
  };
  const [left, right] = [place('left', 0), place('right', 1)];
  const options = runs.map((run) => ({ value: run.optimization_id, label: run.name }));
  return (
    <Card title="Prompts of the best">
      <div className="stack">
        <div className="two">
          <Choice
            label="Before"
            value={left.optimization_id}
            options={options}
            onChange={(id) => address.set({ left: id })}
          />
          <Choice
            label="After"
            value={right.optimization_id}
            options={options}
            onChange={(id) => address.set({ right: id })}
          />
        </div>
        <ConfigurationDiff before={promptOf(left)} after={promptOf(right)} />
      </div>
    </Card>
  );
}

function promptOf(run: RunView): AgentConfiguration {
  return asConfiguration((run.best ?? run.baseline)?.configuration);
}
