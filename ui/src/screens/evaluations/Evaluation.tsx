import { Link, useParams } from 'wouter';
import { Card } from '@/components/Card';
import { PollingHint } from '@/components/LiveHint';
import { Page } from '@/components/shell/Page';
import { Failure, Loaded } from '@/components/States';
import { Status } from '@/components/Status';
import { Duration, Time } from '@/components/Time';
import { count, percent } from '@/lib/format';
import { POLL_MS, useEvaluation } from './data';
import { Figures } from './Figures';
import { Items } from './Items';
import { listPath } from './list/filters';
import { Models } from './Models';
import { RefinementPart } from './RefinementPart';
import { failureOf, isLive, resultOf, type EvaluationView } from './result';
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
          <Link href={`/evaluations?new=1&from=${view.experiment_id}`} className="btn">
            Run again…
          </Link>
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
            : `${count(done)} of ${count(planned)} items`}
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
            : 'It was stopped before the first one ended. Run it again to get results.'}
        </p>
      </div>
    </Card>
  );
}
