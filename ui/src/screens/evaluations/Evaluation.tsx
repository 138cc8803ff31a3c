import { Link, useParams } from 'wouter';
import type { ReactNode } from 'react';
import { Card, Stat } from '@/components/Card';
import { PollingHint } from '@/components/LiveHint';
import { Page } from '@/components/shell/Page';
import { Failure, Loaded } from '@/components/States';
import { Status } from '@/components/Status';
import { Waiting } from '@/components/Waiting';
import { Duration, Time } from '@/components/Time';
import { count, counted, interval, milliseconds, percent, tokensInAndOut } from '@/lib/format';
import { Money, Score } from '@/components/Numbers';
import { Actions } from './Actions';
import { POLL_MS, useAgent, useEvaluation, useItems, useSuite } from './data';
import { Items } from './Items';
import { listPath } from './list/filters';
import { RefinementPart } from './RefinementPart';
import {
  failureOf,
  isLive,
  resultOf,
  spending,
  type EvaluationResult,
  type EvaluationView,
} from './result';
import { judgesOf } from './suite';
import './evaluations.css';

export default function Evaluation() {
  const { id = '' } = useParams();
  const query = useEvaluation(id);
  const view = query.data;
  return (
    <Page
      title={view?.name ?? 'Evaluation'}
      crumbs={[{ label: 'Evaluations', to: listPath() }]}
      badge={
        view && (
          <>
            <Status value={view.status} />
            <PollingHint
              every={POLL_MS}
              active={isLive(view.status)}
              failing={query.isRefetchError}
            />
          </>
        )
      }
      actions={
        view && (
          <>
            {/* Anew with each end and beginning: what was asked for before is over then. */}
            <Actions key={String(isLive(view.status))} view={view} />
            <Link href={`/evaluations?new=1&from=${view.experiment_id}`} className="btn">
              Run again…
            </Link>
          </>
        )
      }
    >
      <Loaded query={query} lines={10}>
        {(found) => <Body view={found} />}
      </Loaded>
    </Page>
  );
}

function Body({ view }: { view: EvaluationView }) {
  const result = resultOf(view);
  const failure = failureOf(view);
  return (
    <>
      <Lead view={view} />
      {failure && (
        <div className="notice bad" role="alert">
          <div className="stack tight">
            <strong>{failure.message}</strong>
            {failure.fix && <span className="small">{failure.fix}</span>}
          </div>
        </div>
      )}
      {isLive(view.status) && <Progress view={view} done={result?.items ?? 0} />}
      <Waiting batches={view.waiting} waited={view.status === 'running'} />
      {result?.warnings.map((warning) => (
        <div key={warning} className={`notice ${result.errors === result.items ? 'bad' : 'warn'}`}>
          <span>{warning}</span>
        </div>
      ))}
      {result ? (
        <>
          <Figures result={result} />
          <Models view={view} />
          <RefinementPart view={view} result={result} />
          <Items view={view} result={result} />
        </>
      ) : (
        <>
          <Models view={view} />
          <Nothing view={view} />
        </>
      )}
    </>
  );
}

/** What ran on what, and when. */
function Lead({ view }: { view: EvaluationView }) {
  const version = view.agent_version === null ? '' : ` version ${view.agent_version}`;
  // A trial has a candidate's configuration, which was never written.
  const written = view.agent_version === null && view.optimization_id === null;
  const overridden = Object.keys(view.overrides).length > 0;
  return (
    <p className="muted evals-lead">
      <Link href={`/agents/${encodeURIComponent(view.agent)}`}>{`${view.agent}${version}`}</Link>
      {written && ' as burnish.toml had it'}
      {overridden && ' with overrides that are not saved'} on{' '}
      <Link href={`/suites/${encodeURIComponent(view.suite)}`}>{view.suite}</Link>
      {view.optimization_id !== null && (
        <>
          {' · part of '}
          <Link href={`/runs/${view.optimization_id}`}>a run</Link>
        </>
      )}
      {' · started '}
      <Time at={view.created_at} />
      {view.status !== 'pending' && (
        <>
          {isLive(view.status) ? ', runs for ' : ', took '}
          <Duration from={view.created_at} to={isLive(view.status) ? null : view.updated_at} />
        </>
      )}
    </p>
  );
}

function Progress({ view, done }: { view: EvaluationView; done: number }) {
  const planned = view.planned_items;
  const share = planned ? Math.min(1, done / planned) : 0;
  return (
    <div className="card card-body stack tight" data-progress>
      <div className="row between small">
        <span>
          {view.status === 'pending'
            ? 'Waits for a worker to take it'
            : `${count(done)} of ${counted(planned, 'item')}`}
        </span>
        <span className="muted">{percent(share)}</span>
      </div>
      <div
        className="bar"
        role="progressbar"
        aria-label="Items done"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
      >
        <span style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}

function Nothing({ view }: { view: EvaluationView }) {
  if (failureOf(view)) return null;
  if (view.status === 'failed')
    return (
      <Failure
        error={new Error('It failed before the first item. The server’s log says more about it.')}
      />
    );
  return (
    <Card title="Items">
      <div className="empty">
        <h3>No item is done yet</h3>
        <p>
          {isLive(view.status)
            ? 'They come here as they are finished; this page looks every few seconds.'
            : 'It was stopped before the first one ended. Resume it to get results.'}
        </p>
      </div>
    </Card>
  );
}

function Figures({ result }: { result: EvaluationResult }) {
  const [low, high] = result.pass_interval ?? [null, null];
  return (
    <div className="grid-cards">
      <Stat label="Score" value={<Score value={result.score} />}>
        <span className="muted">
          {result.score_interval === null
            ? 'nothing was measured'
            : `95% interval ${interval(...result.score_interval)}`}
        </span>
      </Stat>
      <Stat label="Passed" value={percent(result.pass_rate)}>
        <span className="muted">
          {result.pass_interval === null
            ? 'no item was judged'
            : `${count(result.items - result.failed)} of ${counted(result.items, 'item')}, 95% interval ${percent(low)} to ${percent(high)}`}
        </span>
      </Stat>
      <Stat label="Cost" value={<Money value={result.usage.cost_usd} />}>
        <Spent result={result} />
      </Stat>
      <Stat label="Latency of an item" value={milliseconds(result.avg_latency_ms)}>
        <span className="muted">
          {`mean of ${count(result.items)}${result.cached > 0 ? `, ${count(result.cached)} from a cache` : ''}`}
        </span>
      </Stat>
    </div>
  );
}

function Spent({ result }: { result: EvaluationResult }) {
  const parts = spending(result.usage);
  if (parts.length === 0) return <span className="muted">no call was paid for</span>;
  return (
    <>
      <dl className="muted evals-purposes" aria-label="Spend by purpose">
        {parts.map(({ who, usage }) => (
          <div key={who}>
            <dt>{who}</dt>
            <dd>
              <Money value={usage.cost_usd} /> · {count(usage.calls)}{' '}
              {usage.calls === 1 ? 'call' : 'calls'} · {tokensInAndOut(usage)}
            </dd>
          </div>
        ))}
      </dl>
      {parts.length > 1 && (
        <span className="muted">{`${counted(result.usage.calls, 'call')}, ${tokensInAndOut(result.usage)} in all`}</span>
      )}
    </>
  );
}

/** The three roles, each with its model. */
function Models({ view }: { view: EvaluationView }) {
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
