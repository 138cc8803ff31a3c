import { Link, useParams } from 'wouter';
import { Page } from '@/components/shell/Page';
import { Failure, Loading } from '@/components/States';
import { Status } from '@/components/Status';
import { Tabs } from '@/components/Tabs';
import { useAddress } from '@/lib/address';
import { shortId } from '@/lib/format';
import { AgainstBar } from './against/Bar';
import './candidate.css';
import { Changes } from './Changes';
import { useCandidate, useFront, useRun, type Pair, type RunCandidate } from './data';
import { mainExperiment } from './roles';
import { Experiments } from './Experiments';
import { Facts } from './Facts';
import { Items } from './items/Items';
import { PromoteDialog } from './promote/Dialog';
import { useOther } from './against/useOther';

/** One candidate: what it changes, what that does to every item, and the way to promote it. */
export default function Candidate() {
  const { id = '', candidate: candidateId = '' } = useParams<{ id: string; candidate: string }>();
  const address = useAddress();
  const run = useRun(id);
  const query = useCandidate(id, candidateId);
  const candidate = query.data;
  const failed = query.error ?? run.error;
  return (
    <Page
      title={candidate ? `Candidate ${candidate.number}` : 'Candidate'}
      crumbs={[
        { label: 'Runs', to: '/runs' },
        { label: run.data?.name ?? shortId(id), to: `/runs/${id}` },
      ]}
      badge={candidate && <Badges candidate={candidate} agent={run.data?.agent ?? ''} />}
      actions={
        candidate && (
          <button
            type="button"
            className="btn primary"
            onClick={() => address.set({ promote: '1' })}
          >
            Promote…
          </button>
        )
      }
    >
      {failed && !(candidate && run.data) && (
        <Failure error={failed} retry={() => void Promise.all([query.refetch(), run.refetch()])} />
      )}
      {!failed && !(candidate && run.data) && <Loading what="Loading the candidate" lines={8} />}
      {candidate && run.data && (
        <Content
          candidate={candidate}
          run={{
            id,
            agent: run.data.agent,
            baselineId: run.data.baseline?.candidate_id ?? null,
            baseline: run.data.baseline?.configuration ?? null,
          }}
        />
      )}
    </Page>
  );
}

function Badges({ candidate, agent }: { candidate: RunCandidate; agent: string }) {
  const front = useFront(candidate.optimization_id);
  const latest = mainExperiment(candidate.experiments);
  return (
    <span className="row">
      <Status value={latest?.status} />
      {candidate.baseline && <span className="badge">baseline</span>}
      {candidate.best && <span className="badge accent">best</span>}
      {front.data?.has(candidate.candidate_id) && (
        <span
          className="badge info"
          title="No other candidate is better in score, tokens, cost and latency at once"
        >
          on the front
        </span>
      )}
      {candidate.promoted_versions.map((version) => (
        <Link
          key={version}
          className="badge good"
          href={`/agents/${encodeURIComponent(agent)}?before=${Math.max(1, version - 1)}&after=${version}`}
        >
          promoted as version {version}
        </Link>
      ))}
    </span>
  );
}

export interface RunOfCandidate {
  id: string;
  agent: string;
  baselineId: string | null;
  baseline: unknown;
}

function Content({ candidate, run }: { candidate: RunCandidate; run: RunOfCandidate }) {
  const address = useAddress();
  const other = useOther(run, candidate, address.get('against'));
  const on = address.get('on') === 'held_out' ? 'held_out' : 'search';
  const pair: Pair | null =
    other.candidateId === null && other.kind !== 'none'
      ? null
      : {
          runId: run.id,
          before: other.candidateId ?? candidate.candidate_id,
          after: candidate.candidate_id,
          on,
        };
  const tab = address.get('tab') || 'changes';
  return (
    <>
      <Facts candidate={candidate} other={other} pair={pair} />
      <AgainstBar candidate={candidate} run={run} other={other} />
      <Tabs
        label="About this candidate"
        tabs={[
          { id: 'changes', label: 'Changes' },
          { id: 'items', label: 'Items' },
          { id: 'experiments', label: `Experiments (${candidate.experiments.length})` },
        ]}
        chosen={tab}
        onChoose={(next) => address.set({ tab: next === 'changes' ? null : next })}
      >
        {tab === 'items' ? (
          <Items pair={pair} candidate={candidate} other={other} />
        ) : tab === 'experiments' ? (
          <Experiments candidate={candidate} />
        ) : (
          <Changes candidate={candidate} other={other} runId={run.id} />
        )}
      </Tabs>
      {address.get('promote') === '1' && (
        <PromoteDialog
          candidate={candidate}
          runId={run.id}
          onClose={() => address.set({ promote: null })}
        />
      )}
    </>
  );
}
