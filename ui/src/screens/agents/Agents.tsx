import { useQueries } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import { Card } from '@/components/Card';
import { SearchInput } from '@/components/list/SearchBox';
import { Page } from '@/components/shell/Page';
import { Empty, Failure, Loading } from '@/components/States';
import { Time } from '@/components/Time';
import { useAddress } from '@/lib/address';
import { useShortcuts } from '@/lib/keys';
import { useRows } from '@/lib/rows';
import './agents.css';
import { lastVersionQuery, useAgents, type AgentView, type VersionLine } from './data';
import { kindWords, sourceWords } from './origin';
import { counted } from '../../lib/format';

const NewAgent = lazy(() => import('./edit/NewAgent'));

/** All agents with what each runs under. */
export default function Agents() {
  const address = useAddress();
  const sought = address.get('q');
  const query = useAgents();
  const all = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const shown = useMemo(() => matching(all, sought), [all, sought]);
  const begin = () => address.set({ new: '1' });
  useShortcuts([{ keys: 'n', says: 'New agent', act: begin }]);
  return (
    <Page
      title="Agents"
      actions={
        <button type="button" className="btn primary" onClick={begin}>
          New agent
        </button>
      }
    >
      <div className="filters">
        <SearchInput
          className="agents-search"
          label="Search agents"
          placeholder="Search by name or model"
          value={sought}
          onChange={(q) => address.set({ q })}
        />
        {query.data && (
          <span className="muted small" role="status">
            {counted(shown.length, 'agent')}
          </span>
        )}
      </div>
      {query.error && !query.data && (
        <Failure error={query.error} retry={() => void query.refetch()} />
      )}
      {query.isPending && <Loading what="Loading the agents" />}
      {query.data && (
        <Card flush>
          {shown.length > 0 ? (
            <AgentTable agents={shown} />
          ) : all.length > 0 ? (
            <Empty title="No agent is like that">
              <button type="button" className="btn small" onClick={() => address.set({ q: null })}>
                Show all
              </button>
            </Empty>
          ) : (
            <Empty title="No agents yet">
              <p>
                An agent is a prompt with a model. Make one here, or write it into{' '}
                <code>burnish.toml</code> and start the server again.
              </p>
              <button type="button" className="btn small" onClick={begin}>
                New agent
              </button>
            </Empty>
          )}
        </Card>
      )}
      {query.hasNextPage && (
        <button type="button" className="btn" onClick={() => void query.fetchNextPage()}>
          Show more
        </button>
      )}
      {address.get('new') === '1' && (
        <Suspense fallback={null}>
          <NewAgent onClose={() => address.set({ new: null })} />
        </Suspense>
      )}
    </Page>
  );
}

function matching(agents: readonly AgentView[], sought: string): AgentView[] {
  const wanted = sought.trim().toLowerCase();
  return agents.filter((agent) =>
    `${agent.name} ${agent.model ?? ''}`.toLowerCase().includes(wanted),
  );
}

function AgentTable({ agents }: { agents: readonly AgentView[] }) {
  const [, go] = useLocation();
  const lasts = useQueries({ queries: agents.map((agent) => lastVersionQuery(agent.name)) });
  const [selected] = useRows(agents.length, (index) => {
    const agent = agents[index];
    if (agent) go(`/agents/${encodeURIComponent(agent.name)}`);
  });
  return (
    <div className="table-wrap">
      <table className="table table-cards">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Kind</th>
            <th scope="col">Model</th>
            <th scope="col">Active version</th>
            <th scope="col">Written in</th>
            <th scope="col">Last change</th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent, index) => (
            <AgentRow
              key={agent.name}
              agent={agent}
              last={lasts[index]?.data}
              index={index}
              selected={selected === index}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AgentRow({
  agent,
  last,
  index,
  selected,
}: {
  agent: AgentView;
  last: VersionLine | null | undefined;
  index: number;
  selected: boolean;
}) {
  const [, go] = useLocation();
  const to = `/agents/${encodeURIComponent(agent.name)}`;
  return (
    <tr className="link" data-row={index} data-selected={selected} onClick={() => go(to)}>
      <td data-label="Agent">
        <Link href={to} className="agents-name" onClick={(event) => event.stopPropagation()}>
          {agent.name}
        </Link>
      </td>
      <td data-label="Kind">{kindWords(agent.kind)}</td>
      <td data-label="Model">
        {agent.model ? <code>{agent.model}</code> : <span className="muted">its own</span>}
      </td>
      <td data-label="Active version">
        {agent.active_version === null ? (
          <span className="muted">none yet</span>
        ) : (
          <span className="row">
            <span className="badge accent">version {agent.active_version}</span>
            {agent.written_differs && (
              <span className="badge warn" title="burnish.toml has another configuration">
                file differs
              </span>
            )}
          </span>
        )}
      </td>
      <td data-label="Written in">{sourceWords(agent.source)}</td>
      <td data-label="Last change">
        {last === undefined ? (
          <span className="muted">…</span>
        ) : last === null ? (
          <span className="muted">never</span>
        ) : (
          <span>
            <Time at={last.created_at} />
            {last.author !== '' && <span className="muted"> by {last.author}</span>}
          </span>
        )}
      </td>
    </tr>
  );
}
