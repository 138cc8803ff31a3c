import { lazy, Suspense, useMemo, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { ApiError } from '@/api/client';
import { Card } from '@/components/Card';
import { Page } from '@/components/shell/Page';
import { Empty, Failure, Loading } from '@/components/States';
import { Segmented, Tabs } from '@/components/Tabs';
import { useAddress } from '@/lib/address';
import { count, counted } from '@/lib/format';
import { useShortcuts } from '@/lib/keys';
import { CommitPanel } from './history/CommitPanel';
import { CommitTable } from './history/CommitTable';
import { useLineage, useProjectRuns } from './data';
import { historyOf, type History } from './history/history';
import { hasEnded } from './run/stages';
import { RunsList } from './run/List';
import { Upload } from './Upload';
import '../run/lineage/lineage.css';
import './images.css';

const HistoryGraph = lazy(async () => ({
  default: (await import('./history/Graph')).HistoryGraph,
}));

/** A project: which picture was made from which, and the runs that made them. */
export default function Project() {
  const { project = '' } = useParams<{ project: string }>();
  const address = useAddress();
  const [, go] = useLocation();
  const runs = useProjectRuns(project);
  const lines = runs.data?.pages.flatMap((page) => page.items) ?? [];
  const lineage = useLineage(
    project,
    lines.some((run) => !hasEnded(run)),
  );
  const history = useMemo(
    () => historyOf(lineage.data?.nodes ?? [], lineage.data?.truncated),
    [lineage.data],
  );
  const [uploading, setUploading] = useState(false);
  const evalPath = `/workbench/${encodeURIComponent(project)}/eval`;
  useShortcuts([{ keys: 'n', says: 'New run', act: () => go(evalPath) }]);
  const tab = address.get('tab') || 'history';
  return (
    <Page
      title={project}
      crumbs={[{ label: 'Images', to: '/workbench' }]}
      actions={
        <>
          <button type="button" className="btn" onClick={() => setUploading(true)}>
            Upload a picture
          </button>
          <Link className="btn primary" href={evalPath}>
            New run
          </Link>
        </>
      }
    >
      <Tabs
        label="Parts of the project"
        chosen={tab}
        onChoose={(id) => address.set({ tab: id === 'history' ? null : id })}
        tabs={[
          { id: 'history', label: `History ${count(history.commits.size)}` },
          { id: 'runs', label: 'Runs' },
        ]}
      >
        {tab === 'runs' ? (
          <RunsList query={runs} runs={lines} />
        ) : lineage.data === undefined ? (
          lineage.error instanceof ApiError && lineage.error.status === 404 ? (
            <div className="card">
              <Empty title="There is no such project">
                <p>A project is there from its first run, or its first picture.</p>
                <Link className="btn primary" href={evalPath}>
                  New run
                </Link>
              </Empty>
            </div>
          ) : lineage.error ? (
            <Failure error={lineage.error} retry={() => void lineage.refetch()} />
          ) : (
            <Loading lines={6} what="Loading the history" />
          )
        ) : history.commits.size === 0 ? (
          <div className="card">
            <Empty title="No pictures yet">
              <p>A run draws a first picture and variants of it; an upload starts from your own.</p>
              <Link className="btn primary" href={evalPath}>
                New run
              </Link>
            </Empty>
          </div>
        ) : (
          <HistoryCard project={project} history={history} />
        )}
      </Tabs>
      {uploading && <Upload project={project} onClose={() => setUploading(false)} />}
    </Page>
  );
}

function HistoryCard({ project, history }: { project: string; history: History }) {
  const address = useAddress();
  const [, go] = useLocation();
  const [view, setView] = useState<'graph' | 'table'>('graph');
  const base = `/workbench/${encodeURIComponent(project)}`;
  const current = address.get('commit') || null;
  const marked = address.get('against') || null;
  const commit = current === null ? undefined : history.commits.get(current);
  const runFrom = (id: string) => {
    if (history.commits.get(id)?.can_be_parent) go(`${base}/eval?parent=${id}`);
  };
  const choose = (id: string | null) => {
    // While another is looked for, a click says which.
    if (marked !== null && id !== null && id !== marked && history.commits.get(id)?.image_url)
      go(`${base}/compare?left=${marked}&right=${id}`);
    else address.set({ commit: id, against: null });
  };
  return (
    <Card
      title="History"
      flush
      actions={
        <>
          {marked !== null && (
            <span className="badge info" role="status">
              Choose the other commit
              <button
                type="button"
                className="terms-drop"
                aria-label="Stop comparing"
                onClick={() => address.set({ against: null })}
              >
                ✕
              </button>
            </span>
          )}
          <Segmented
            label="View of the history"
            chosen={view}
            onChoose={setView}
            options={[
              { value: 'graph', label: 'Graph' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </>
      }
    >
      {history.truncated && (
        <p className="small muted history-note">
          {`The newest ${counted(history.commits.size, 'commit')}; older ones are left out.`}
        </p>
      )}
      <div className="lineage-area history-area" data-panel="history">
        {view === 'graph' ? (
          <Suspense fallback={<Loading what="Loading the graph" />}>
            <HistoryGraph
              history={history}
              current={current}
              marked={marked}
              onCurrent={choose}
              onRun={runFrom}
            />
          </Suspense>
        ) : (
          <CommitTable history={history} current={current} onCurrent={choose} onRun={runFrom} />
        )}
        {commit && (
          <CommitPanel
            key={commit.commit_id}
            commit={commit}
            history={history}
            onChoose={(id) => address.set({ commit: id })}
            onCompare={(id) => address.set({ against: id })}
            onClose={() => address.set({ commit: null, against: null })}
          />
        )}
      </div>
    </Card>
  );
}
