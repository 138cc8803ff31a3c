import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Link, useParams } from 'wouter';
import { answer, api } from '@/api/client';
import { Card, Stat } from '@/components/Card';
import { ConfigurationText } from '@/components/configuration/Text';
import { DeleteButton } from '@/components/form/DeleteButton';
import { Page } from '@/components/shell/Page';
import { Failure, Loading } from '@/components/States';
import { Tabs } from '@/components/Tabs';
import { Time } from '@/components/Time';
import { useAddress } from '@/lib/address';
import { asConfiguration } from '@/lib/configurations';
import './agents.css';
import { CompareVersions } from './CompareVersions';
import { agentQuery, useVersions, type AgentView, type VersionLine } from './data';
import { kindWords, sourceWords } from './origin';
import { RevertDialog } from './RevertDialog';
import { Timeline } from './Timeline';
import { counted } from '../../lib/format';

const EditPrompt = lazy(() => import('./edit/EditPrompt'));

/** One agent: what it runs under, what it ran under before, and the way back. */
export default function Agent() {
  const { name = '' } = useParams<{ name: string }>();
  const query = useQuery(agentQuery(name));
  const versions = useVersions(name);
  const lines = versions.data?.pages.flatMap((page) => page.items) ?? [];
  const agent = query.data;
  const address = useAddress();
  return (
    <Page
      title={name}
      crumbs={[{ label: 'Agents', to: '/agents' }]}
      badge={
        agent && (
          <span className="row">
            <span className="badge">{kindWords(agent.kind)}</span>
            {agent.active_version !== null && (
              <span className="badge accent">version {agent.active_version}</span>
            )}
          </span>
        )
      }
      actions={
        <>
          <Link className="btn" href={`/runs?agent=${encodeURIComponent(name)}`}>
            Runs of this agent
          </Link>
          {agent?.source === 'registry' && (
            <DeleteButton
              what={`the agent ${name}`}
              send={() =>
                answer(
                  api.DELETE('/v1/private/agents/{agent}', { params: { path: { agent: name } } }),
                )
              }
              forget={['agents']}
              to="/agents"
            >
              It can be run no more. Its runs and evaluations stay with what they ran.
            </DeleteButton>
          )}
          {agent && (
            <Link className="btn" href={`/runs?new=1&of=${encodeURIComponent(name)}`}>
              Improve it…
            </Link>
          )}
          {agent && (
            <button
              type="button"
              className="btn primary"
              onClick={() => address.set({ edit: '1' })}
            >
              Edit or try…
            </button>
          )}
        </>
      }
    >
      {query.error && !agent && <Failure error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Loading what="Loading the agent" lines={8} />}
      {agent && (
        <>
          {agent.written_differs && <WrittenDiffers agent={agent} />}
          <Facts agent={agent} last={lines[0]} versions={versions} />
          <div className="agents-columns">
            <Configurations agent={agent} lines={lines} />
            <Timeline agent={agent} lines={lines} query={versions} />
          </div>
          <Reverting agent={agent} lines={lines} />
          {address.get('edit') === '1' && (
            <Suspense fallback={null}>
              <EditPrompt agent={agent} onClose={() => address.set({ edit: null })} />
            </Suspense>
          )}
        </>
      )}
    </Page>
  );
}

function WrittenDiffers({ agent }: { agent: AgentView }) {
  return (
    <div className="notice warn">
      <div className="stack tight">
        <strong>burnish.toml has another configuration than version {agent.active_version}</strong>
        <span className="small">
          Runs and calls use version {agent.active_version}, not the file. To run what the file has,
          revert to the version that is equal to it; to have the file say what runs, copy the active
          configuration into it.
        </span>
      </div>
    </div>
  );
}

function Facts({
  agent,
  last,
  versions,
}: {
  agent: AgentView;
  last: VersionLine | undefined;
  versions: { isPending: boolean };
}) {
  return (
    <div className="grid-cards">
      <Stat
        label="Active"
        value={agent.active_version === null ? 'As written' : `Version ${agent.active_version}`}
      >
        {last ? (
          <span className="muted">
            since <Time at={last.created_at} />
            {last.author !== '' && ` by ${last.author}`}
          </span>
        ) : (
          <span className="muted">
            {versions.isPending ? '…' : 'The first promotion makes a version.'}
          </span>
        )}
      </Stat>
      <Stat
        label={agent.kind === 'http' ? 'Address' : 'Model'}
        value={<span className="agents-fact">{agent.model ?? agent.url ?? 'its own'}</span>}
      >
        <span className="muted">{kindWords(agent.kind)}</span>
      </Stat>
      <Stat
        label="Written in"
        value={<span className="agents-fact">{sourceWords(agent.source)}</span>}
      >
        <span className="muted">
          {agent.source === 'configuration' ? 'the server’s own project' : 'kept in the database'}
        </span>
      </Stat>
      {agent.labels.length > 0 && (
        <Stat
          label="Answers with one of"
          value={<span className="agents-fact">{counted(agent.labels.length, 'label')}</span>}
        >
          <span className="muted agents-labels" title={agent.labels.join(', ')}>
            {agent.labels.join(', ')}
          </span>
        </Stat>
      )}
    </div>
  );
}

function Configurations({ agent, lines }: { agent: AgentView; lines: readonly VersionLine[] }) {
  const address = useAddress();
  const comparing = address.get('before') !== '' || address.get('after') !== '';
  const chosen = comparing || address.get('view') === 'compare' ? 'compare' : 'active';
  return (
    <Tabs
      label="Configuration"
      tabs={[
        { id: 'active', label: 'Active configuration' },
        { id: 'compare', label: 'Compare versions' },
      ]}
      chosen={chosen}
      onChoose={(id) =>
        address.set(
          id === 'compare' ? { view: 'compare' } : { view: null, before: null, after: null },
        )
      }
    >
      {chosen === 'active' ? (
        <Card
          title={
            agent.active_version === null
              ? 'As burnish.toml has it'
              : `Version ${agent.active_version}`
          }
        >
          <ConfigurationText configuration={asConfiguration(agent.configuration)} />
        </Card>
      ) : (
        <CompareVersions agent={agent.name} lines={lines} />
      )}
    </Tabs>
  );
}

function Reverting({ agent, lines }: { agent: AgentView; lines: readonly VersionLine[] }) {
  const address = useAddress();
  const target = Number(address.get('revert'));
  if (!Number.isInteger(target) || target < 1 || agent.active_version === null) return null;
  return (
    <RevertDialog
      agent={agent.name}
      target={target}
      active={agent.active_version}
      newest={lines[0]?.version ?? agent.active_version}
      onClose={() => address.set({ revert: null })}
    />
  );
}
