import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation, useParams } from 'wouter';
import { answer, api } from '@/api/client';
import { Card } from '@/components/Card';
import { DeleteButton } from '@/components/form/DeleteButton';
import { Page } from '@/components/shell/Page';
import { Failure, Loaded } from '@/components/States';
import { Tabs } from '@/components/Tabs';
import { Time } from '@/components/Time';
import { say } from '@/components/shell/Toasts';
import { useAddress } from '@/lib/address';
import { Diff } from '@/components/Diff';
import { cronWords } from './cron';
import { useConfig, useVersions, type Config } from './data';
import { Editor } from './Editor';
import { PastRuns } from './PastRuns';
import { configText } from './form';
import './optimizers.css';

const CRUMBS = [{ label: 'Optimizers', to: '/optimizers' }];
const TABS = [
  { id: 'settings', label: 'Settings' },
  { id: 'runs', label: 'Past runs' },
  { id: 'versions', label: 'Versions' },
];

export default function Optimizer() {
  const { agent, name } = useParams<{ agent: string; name: string }>();
  if (name === 'new')
    return (
      <Page title="New optimizer" crumbs={CRUMBS}>
        <Editor agent={agent} stored={null} />
      </Page>
    );
  return <Stored agent={agent} name={name} />;
}

function Stored({ agent, name }: { agent: string; name: string }) {
  const config = useConfig(agent, name);
  const start = useRunNow(agent, name);
  return (
    <Page
      title={name}
      crumbs={CRUMBS}
      badge={config.data && <span className="badge">version {config.data.version}</span>}
      actions={
        <>
          {config.data && (
            <DeleteButton
              what={`the optimizer ${name}`}
              send={() =>
                answer(
                  api.DELETE('/planar/v1/agents/{agent}/optimizers/{name}', {
                    params: { path: { agent, name } },
                  }),
                )
              }
              forget={['configs']}
              to="/optimizers"
            >
              It starts no more runs, by schedule or by hand. The runs that it started stay.
            </DeleteButton>
          )}
          <button
            type="button"
            className="btn primary"
            disabled={!config.data || start.isPending}
            onClick={() => start.mutate()}
          >
            {start.isPending ? 'Starting…' : 'Run now'}
          </button>
        </>
      }
    >
      {start.error && <Failure error={start.error} />}
      <Loaded query={config}>{(view) => <Body agent={agent} config={view} />}</Loaded>
    </Page>
  );
}

function Body({ agent, config }: { agent: string; config: Config }) {
  const address = useAddress();
  const tab = address.get('tab') || 'settings';
  return (
    <>
      <p className="row muted">
        <span>
          For the agent <strong>{agent}</strong>.
        </span>
        <span>
          {cronWords(
            config.config.schedule as string | null,
            config.config.schedule_timezone as string,
          )}
        </span>
        {config.next_run_at && (
          <span>
            Next: <Time at={config.next_run_at} />
          </span>
        )}
        <span>
          Saved <Time at={config.created_at} />
          {config.author && ` by ${config.author}`}
        </span>
      </p>
      <Tabs
        tabs={TABS}
        chosen={tab}
        label="About this optimizer"
        onChoose={(id) => address.set({ tab: id === 'settings' ? null : id })}
      >
        {tab === 'runs' ? (
          <PastRuns agent={agent} name={config.name} />
        ) : tab === 'versions' ? (
          <Versions agent={agent} name={config.name} />
        ) : (
          <Card title="Settings">
            <Editor key={config.version} agent={agent} stored={config} />
          </Card>
        )}
      </Tabs>
    </>
  );
}

function useRunNow(agent: string, name: string) {
  const cache = useQueryClient();
  const [, go] = useLocation();
  return useMutation({
    mutationFn: () =>
      answer(
        api.POST('/planar/v1/agents/{agent}/optimizers/{name}/run', {
          params: { path: { agent, name } },
        }),
      ),
    onSuccess: (run) => {
      void cache.invalidateQueries({ queryKey: ['configs', agent, name] });
      say(`Started ${name}`);
      go(`/runs/${run.id}`);
    },
  });
}

/** Every version, with what changed against the one before. */
function Versions({ agent, name }: { agent: string; name: string }) {
  const versions = useVersions(agent, name);
  return (
    <Loaded query={versions}>
      {({ items }) => {
        const sorted = [...items].sort((one, other) => other.version - one.version);
        return (
          <div className="stack">
            {sorted.map((one, index) => {
              const before = sorted[index + 1];
              return (
                <Card
                  key={one.version}
                  title={`Version ${one.version}`}
                  actions={
                    <span className="muted small row">
                      {one.active && <span className="badge good">active</span>}
                      {one.author}, <Time at={one.created_at} />
                    </span>
                  }
                >
                  <Diff
                    before={configText(before?.config ?? one.config)}
                    after={configText(one.config)}
                  />
                </Card>
              );
            })}
          </div>
        );
      }}
    </Loaded>
  );
}
