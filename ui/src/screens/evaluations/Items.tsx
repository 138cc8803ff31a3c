import { useDeferredValue, useEffect, useState } from 'react';
import { useSearch } from 'wouter';
import { Card } from '@/components/Card';
import { CardHead, List, NameCell } from '@/components/list/List';
import { SearchBox } from '@/components/list/SearchBox';
import { Money, Score } from '@/components/Numbers';
import { Empty, Failure, Loading } from '@/components/States';
import { Segmented } from '@/components/Tabs';
import { useAddress } from '@/lib/address';
import { count, counted } from '@/lib/format';
import { outputText } from '../candidate/items/answers';
import { KeepCases } from './Cases';
import { useItems } from './data';
import {
  filterOptions,
  filterTotal,
  inputPreview,
  itemFilter,
  itemPath,
  oneLine,
} from './itemFilters';
import { OutcomeBadge, Passing } from './Badges';
import {
  endWords,
  isLive,
  type EvaluationResult,
  type EvaluationView,
  type ItemRun,
} from './result';
import { judged, scorePath } from './rounds';

const SHOWN = 50;

/** Every run of an item, filtered as the address says. */
export function Items({ view, result }: { view: EvaluationView; result: EvaluationResult }) {
  const address = useAddress();
  const filter = itemFilter(address.get('filter'));
  const sought = useDeferredValue(address.get('q'));
  const live = isLive(view.status);
  const { query, runs, looked, searching } = useItems(view.experiment_id, filter, sought, { live });
  const [most, setMost] = useState(SHOWN);
  const total = sought.trim() === '' ? filterTotal(result, filter) : runs.length;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const wantsMore = runs.length < most && hasNextPage && !isFetchingNextPage && !query.isError;
  useEffect(() => {
    if (wantsMore) void fetchNextPage();
  }, [wantsMore, fetchNextPage]);
  return (
    <div id="evals-items">
      <Card title="Items" flush>
        <div className="filters evals-items-bar">
          <div className="evals-scroll">
            <Segmented
              label="Which items"
              options={filterOptions(result, filter)}
              chosen={filter}
              onChoose={(value) => address.set({ filter: value === 'all' ? null : value })}
            />
          </div>
          <SearchBox
            label="Search items"
            placeholder="Search inputs, outputs, reasons…"
            value={address.get('q')}
            onChange={(q) => address.set({ q })}
          />
          <span className="muted small" role="status" data-total={total}>
            {searching
              ? `${count(looked)} looked at…`
              : total === 1
                ? '1 item'
                : counted(total, 'item')}
          </span>
          <KeepCases view={view} result={result} />
        </div>
        {query.data === undefined ? (
          <div className="card-body">
            {query.error ? (
              <Failure error={query.error} retry={() => void query.refetch()} />
            ) : (
              <Loading lines={6} what="Loading items" />
            )}
          </div>
        ) : runs.length > 0 ? (
          <ItemList
            evaluation={view.experiment_id}
            runs={runs.slice(0, most)}
            refined={result.refinement?.active ?? false}
          />
        ) : searching ? (
          <div className="card-body">
            <Loading lines={3} what="Searching all items" />
          </div>
        ) : (
          <Empty title="No item is like that">
            <button
              type="button"
              className="btn small"
              onClick={() => address.set({ filter: null, q: null })}
            >
              Show all items
            </button>
          </Empty>
        )}
        {(runs.length > most || hasNextPage) && runs.length > 0 && (
          <div className="evals-foot">
            <span className="muted small">
              {`${count(Math.min(most, runs.length))} of ${count(total)}`}
            </span>
            <button
              type="button"
              className="btn small"
              disabled={isFetchingNextPage}
              onClick={() => setMost(most + SHOWN)}
            >
              {isFetchingNextPage ? 'Loading…' : 'Show more items'}
            </button>
          </div>
        )}
      </Card>
    </div>
  );
}

function ItemList({
  evaluation,
  runs,
  refined,
}: {
  evaluation: string;
  runs: readonly ItemRun[];
  refined: boolean;
}) {
  const search = useSearch();
  const pathOf = (run: ItemRun) => itemPath(evaluation, run, search);
  return (
    <List
      lines={runs}
      kind="item"
      idOf={(run) => run.item_id}
      keyOf={(run) => `${run.item_id} ${run.repeat}`}
      pathOf={pathOf}
      plain
      table={{
        className: 'evals-items',
        head: <Heads refined={refined} />,
        cells: (run) => <Cells run={run} path={pathOf(run)} refined={refined} />,
      }}
      card={(run) => <ItemCard run={run} path={pathOf(run)} refined={refined} />}
    />
  );
}

function Heads({ refined }: { refined: boolean }) {
  return (
    <>
      <th scope="col">Item</th>
      <th scope="col">Answer</th>
      {refined && <th scope="col">Refinement</th>}
      {refined && <th scope="col">Rounds</th>}
      <th scope="col" className="num">
        Score
      </th>
      <th scope="col">Result</th>
      <th scope="col" className="num">
        Cost
      </th>
    </>
  );
}

interface ItemProps {
  run: ItemRun;
  path: string;
  refined: boolean;
}

function Cells({ run, path, refined }: ItemProps) {
  return (
    <>
      <NameCell href={path} name={<Name run={run} />}>
        {inputPreview(run)}
      </NameCell>
      <td className="evals-answer">
        <Answer run={run} />
      </td>
      {refined && (
        <td>
          <OutcomeBadge run={run} />
        </td>
      )}
      {refined && (
        <td>
          <Rounds run={run} />
        </td>
      )}
      <td className="num">
        <Score value={run.score} />
      </td>
      <td>
        <Passing run={run} />
      </td>
      <td className="num">
        <Money value={run.usage.cost_usd} />
      </td>
    </>
  );
}

/** The same where a table has no room. */
function ItemCard({ run, path, refined }: ItemProps) {
  return (
    <>
      <CardHead href={path} name={<Name run={run} />}>
        <span className="row">
          {refined && <OutcomeBadge run={run} />}
          <Passing run={run} />
        </span>
      </CardHead>
      <Answer run={run} />
      {refined && run.refinement ? (
        <Rounds run={run} />
      ) : (
        <span className="small">
          score <Score value={run.score} />
        </span>
      )}
    </>
  );
}

function Name({ run }: { run: ItemRun }) {
  return run.repeat > 0 ? `${run.item_id} · run ${run.repeat + 1}` : run.item_id;
}

function Answer({ run }: { run: ItemRun }) {
  if (run.error)
    return (
      <span className="bad small evals-two">{oneLine(run.error.message ?? 'It failed.')}</span>
    );
  const text = oneLine(outputText(run.output));
  return <span className="small evals-two">{text === '' ? '(empty)' : text}</span>;
}

function Rounds({ run }: { run: ItemRun }) {
  if (run.refinement === null) return <span className="muted">–</span>;
  const ended = endWords(run.refinement.ended);
  return (
    <span className="list-pair left" title={run.refinement.ended_why}>
      <span className="nowrap">{scorePath(judged(run.rounds))}</span>
      <span className="muted small nowrap">{ended}</span>
    </span>
  );
}
