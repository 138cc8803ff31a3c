import { useCallback, useDeferredValue, useEffect } from 'react';
import { useLocation, useParams, useSearch } from 'wouter';
import { Page } from '@/components/shell/Page';
import { Empty, Failure, Loading } from '@/components/States';
import { useAddress } from '@/lib/address';
import { count } from '@/lib/format';
import { useShortcuts } from '@/lib/keys';
import { OutcomeBadge, Passing } from '../Badges';
import { useEvaluation, useItems, useSuite } from '../data';
import { decodedId, evaluationPath, filterTotal, itemFilter, itemPath } from '../itemFilters';
import { listPath } from '../list/filters';
import { isLive, resultOf, type EvaluationView, type ItemRun } from '../result';
import { neighbours } from '../rounds';
import { Sequence } from './Sequence';
import { TestAside } from './Aside';
import '../evaluations.css';

/** One run of an item with all of its rounds. `j` and `k` go through the list that it was opened from. */
export default function TestDetail() {
  const { id = '', item: given = '' } = useParams();
  const item = decodedId(given);
  const address = useAddress();
  const repeat = Number(address.get('repeat')) || 0;
  const search = useSearch();
  const [, go] = useLocation();
  const evaluation = useEvaluation(id);
  const suite = useSuite(evaluation.data?.suite ?? '');
  const sought = useDeferredValue(address.get('q'));
  const filter = itemFilter(address.get('filter'));
  // The server gives items only as a list: pages are read until this one and the next are there.
  const until = useCallback(
    (runs: readonly ItemRun[]) => neighbours(runs, item, repeat).next !== undefined,
    [item, repeat],
  );
  const live = isLive(evaluation.data?.status);
  const { query, runs, searching } = useItems(id, filter, sought, { live, until });
  const { at, run, before, next } = neighbours(runs, item, repeat);
  const result = resultOf(evaluation.data);
  const known = sought.trim() === '' && result ? filterTotal(result, filter) : runs.length;
  const total = Math.max(known, runs.length);
  const step = (to: ItemRun | undefined) => {
    if (to) go(itemPath(id, to, search), { replace: true });
  };
  useShortcuts([
    { keys: 'j', says: 'Next test', act: () => step(next) },
    { keys: 'k', says: 'Test before', act: () => step(before) },
  ]);
  useEffect(() => {
    window.scrollTo(0, 0);
  }, [item, repeat]);
  const name = `${item}${repeat > 0 ? ` · run ${repeat + 1}` : ''}`;
  const error = evaluation.error ?? query.error;
  return (
    <Page
      title={name}
      badge={
        run && (
          <>
            <Passing run={run} />
            {run.refinement && <OutcomeBadge run={run} />}
          </>
        )
      }
      crumbs={[
        { label: 'Evaluations', to: listPath() },
        { label: evaluation.data?.name ?? 'Evaluation', to: evaluationPath(id, search) },
      ]}
      actions={<Steps at={at} total={total} before={before} next={next} onStep={step} />}
    >
      {run && evaluation.data ? (
        <Detail view={evaluation.data} run={run} suite={suite.data} />
      ) : error && !run ? (
        <Failure error={error} retry={() => void query.refetch()} />
      ) : query.isPending || searching || evaluation.isPending ? (
        <Loading lines={10} what="Loading the test" />
      ) : (
        <Missing item={name} filtered={filter !== 'all' || sought !== ''} />
      )}
    </Page>
  );
}

function Detail({
  view,
  run,
  suite,
}: {
  view: EvaluationView;
  run: ItemRun;
  suite: Parameters<typeof TestAside>[0]['suite'];
}) {
  return (
    <div className="evals-test" data-test={run.item_id}>
      <TestAside view={view} run={run} suite={suite} />
      <Sequence view={view} run={run} />
    </div>
  );
}

function Steps({
  at,
  total,
  before,
  next,
  onStep,
}: {
  at: number;
  total: number;
  before: ItemRun | undefined;
  next: ItemRun | undefined;
  onStep: (to: ItemRun | undefined) => void;
}) {
  return (
    <>
      {at >= 0 && (
        <span className="muted small" data-place>{`${count(at + 1)} of ${count(total)}`}</span>
      )}
      <button type="button" className="btn small" disabled={!before} onClick={() => onStep(before)}>
        <kbd className="kbd" aria-hidden="true">
          k
        </kbd>{' '}
        Before
      </button>
      <button type="button" className="btn small" disabled={!next} onClick={() => onStep(next)}>
        <kbd className="kbd" aria-hidden="true">
          j
        </kbd>{' '}
        Next
      </button>
    </>
  );
}

function Missing({ item, filtered }: { item: string; filtered: boolean }) {
  const address = useAddress();
  return (
    <div className="card">
      <Empty title={`${item} is not among these items`}>
        <p>
          {filtered
            ? 'The filters in the address leave it out, or it did not run.'
            : 'It did not run in this evaluation, or is not done yet.'}
        </p>
        {filtered && (
          <button
            type="button"
            className="btn small"
            onClick={() => address.set({ filter: null, q: null })}
          >
            Look among all items
          </button>
        )}
      </Empty>
    </div>
  );
}
