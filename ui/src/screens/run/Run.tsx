import { lazy, Suspense, type ReactNode } from 'react';
import { LiveHint } from '@/components/LiveHint';
import { Page } from '@/components/shell/Page';
import { Failure, Loaded, Loading } from '@/components/States';
import { Status } from '@/components/Status';
import { Tabs, type Tab } from '@/components/Tabs';
import { Waiting } from '@/components/Waiting';
import { useAddress } from '@/lib/address';
import { count } from '@/lib/format';
import { Actions } from './Actions';
import { Figures } from './Figures';
import { Learnt } from './Learnt';
import { Outcome } from './Outcome';
import { Explanation, Facts, Progress } from './Progress';
import { Spend } from './Spend';
import { useRun } from './useRun';
import { tabOf, type RunTab, type RunView } from './view';
import './run.css';

const ScorePanel = lazy(() => import('./score/Panel'));
const LineagePanel = lazy(() => import('./lineage/Panel'));
const TrialsPanel = lazy(() => import('./trials/Panel'));
const ParetoPanel = lazy(() => import('./pareto/Panel'));
const RejectionsPanel = lazy(() => import('./RejectionsPanel'));
const EventsPanel = lazy(() => import('./EventsPanel'));
const CompressionPanel = lazy(() => import('./compression/Panel'));

const CRUMBS = [{ label: 'Runs', to: '/runs' }];

export default function Run({ params }: { params: { id: string } }) {
  // Another run is another page: nothing of the one before stays.
  return <RunPage key={params.id} id={params.id} />;
}

function RunPage({ id }: { id: string }) {
  const live = useRun(id);
  const run = live.query.data;
  if (!run)
    return (
      <Page title="Run" crumbs={CRUMBS}>
        {live.query.error ? (
          <Failure error={live.query.error} retry={() => void live.query.refetch()} />
        ) : (
          <Loading lines={8} what="Loading the run" />
        )}
      </Page>
    );
  return (
    <Page
      title={run.name}
      crumbs={CRUMBS}
      badge={
        <>
          <Status value={run.state} />
          <LiveHint mode={live.mode} />
        </>
      }
      actions={<Actions run={run} />}
    >
      <Facts run={run} />
      <Explanation run={run} />
      <Progress run={run} />
      <Waiting batches={run.waiting} waited={run.owned} />
      {/* Without a score there is nothing to compare; the notice above says why. */}
      {(run.best_score !== null || run.status === 'running') && (
        <>
          <Figures run={run} />
          <div className="run-columns">
            <Outcome run={run} />
            <Spend run={run} />
          </div>
        </>
      )}
      {run.search && <Learnt search={run.search} />}
      <Panels run={run} live={live} />
    </Page>
  );
}

function Panels({ run, live }: { run: RunView; live: ReturnType<typeof useRun> }) {
  const address = useAddress();
  const tab = tabOf(address.get('tab'), run.compression);
  return (
    <Tabs
      label="Parts of the run"
      tabs={tabsOf(run)}
      chosen={tab}
      onChoose={(chosen) => address.set({ tab: chosen })}
    >
      <Suspense fallback={<Loading what="Loading the panel" />}>
        <Panel tab={tab} run={run} live={live} />
      </Suspense>
    </Tabs>
  );
}

function tabsOf(run: RunView): Tab[] {
  const numbered = (label: string, many: number): ReactNode => (
    <>
      {label}
      {many > 0 && <span className="run-count">{count(many)}</span>}
    </>
  );
  return [
    ...(run.compression ? [{ id: 'compression', label: 'Compression' }] : []),
    { id: 'score', label: 'Score' },
    { id: 'lineage', label: 'Lineage' },
    { id: 'trials', label: numbered('Trials', run.trials) },
    { id: 'pareto', label: 'Pareto' },
    { id: 'rejections', label: numbered('Rejections', run.counters.rejected) },
    { id: 'events', label: 'Events' },
  ];
}

function Panel({ tab, run, live }: { tab: RunTab; run: RunView; live: ReturnType<typeof useRun> }) {
  const id = run.optimization_id;
  const running = run.status === 'running';
  if (tab === 'compression') return <CompressionPanel runId={id} />;
  if (tab === 'rejections') return <RejectionsPanel runId={id} known={run.counters.rejected} />;
  if (tab === 'events')
    return <EventsPanel runId={id} live={live.events} polling={live.mode === 'polling'} />;
  const Shown = {
    score: ScorePanel,
    lineage: LineagePanel,
    trials: TrialsPanel,
    pareto: ParetoPanel,
  }[tab];
  return (
    <Loaded query={live.points} lines={8}>
      {(set) => <Shown runId={id} set={set} running={running} />}
    </Loaded>
  );
}
