import { useDeferredValue, useEffect } from 'react';
import { Card } from '@/components/Card';
import { SearchInput } from '@/components/list/SearchBox';
import { Empty, Failure, Loading } from '@/components/States';
import { Segmented } from '@/components/Tabs';
import { useAddress } from '@/lib/address';
import { counted } from '@/lib/format';
import { useComparedItems, useComparison, type On, type Pair, type RunCandidate } from '../data';
import { heldOut } from '../roles';
import { ItemList } from './List';
import { ItemPanel } from './Panel';
import { ItemStrip } from './Strip';
import { filterOf, filterOptions } from './matrix';
import type { Other } from '../against/useOther';

/** The strip draws so many; beyond, the list and its filters say more than cells of a pixel. */
const STRIP = 2_000;

/** Every item under this candidate and the compared one. */
export function Items({
  pair,
  candidate,
  other,
}: {
  pair: Pair | null;
  candidate: RunCandidate;
  other: Other;
}) {
  if (pair === null) return <NotRun other={other} candidate={candidate} />;
  return <Matrix pair={pair} candidate={candidate} other={other} />;
}

function NotRun({ other, candidate }: { other: Other; candidate: RunCandidate }) {
  const address = useAddress();
  return (
    <Card title="Items">
      <Empty title={`${other.title || 'It'} did not run in this optimization`}>
        <p>So there are no items to compare it on; its configuration is under Changes.</p>
        {!candidate.baseline && (
          <button
            type="button"
            className="btn small"
            onClick={() => address.set({ against: 'baseline' })}
          >
            Compare with the baseline
          </button>
        )}
      </Empty>
    </Card>
  );
}

function Matrix({ pair, candidate, other }: { pair: Pair; candidate: RunCandidate; other: Other }) {
  const address = useAddress();
  const filter = filterOf(address.get('items'));
  const sought = useDeferredValue(address.get('q').trim());
  const comparison = useComparison(pair);
  const all = useComparedItems(pair, 'all', '');
  const list = useComparedItems(pair, filter, sought);
  const cells = all.data?.pages.flatMap((page) => page.items) ?? [];
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = all;
  const wantsMore = hasNextPage && !isFetchingNextPage && cells.length < STRIP;
  useEffect(() => {
    if (wantsMore) void fetchNextPage();
  }, [wantsMore, fetchNextPage]);

  const alone = pair.before === pair.after;
  const found = comparison.data;
  const error = comparison.error ?? list.error;
  const total = list.data?.pages[0]?.total ?? 0;
  const open = (item: string) => address.set({ item });
  return (
    <Card
      title={alone ? 'Items' : `Items, against ${other.label}`}
      actions={<OnSwitch pair={pair} candidate={candidate} both={found?.held_out_available} />}
    >
      {error && !found ? (
        <Failure error={error} retry={() => void comparison.refetch()} />
      ) : !found ? (
        <Loading what="Comparing items" />
      ) : found.items === 0 ? (
        <NoItems pair={pair} />
      ) : (
        <div className="stack">
          <ItemStrip
            items={cells}
            total={found.items}
            alone={alone}
            chosen={address.get('item')}
            onOpen={open}
          />
          <div className="filters">
            {!alone && (
              <div className="candidate-scroll">
                <Segmented
                  label="Which items"
                  options={filterOptions(found)}
                  chosen={filter}
                  onChoose={(value) => address.set({ items: value === 'all' ? null : value })}
                />
              </div>
            )}
            <SearchInput
              label="Search items"
              placeholder="Search items"
              value={address.get('q')}
              onChange={(q) => address.set({ q })}
            />
            <span className="muted small" role="status">
              {list.isFetching ? '…' : counted(total, 'item')}
            </span>
          </div>
          {rows.length === 0 && !list.isFetching ? (
            <Empty title="No item is like that">
              <button
                type="button"
                className="btn small"
                onClick={() => address.set({ items: null, q: null })}
              >
                Show all items
              </button>
            </Empty>
          ) : (
            <ItemList
              items={rows}
              total={total}
              alone={alone}
              titles={[other.title, `Candidate ${candidate.number}`]}
              onOpen={open}
              onEnd={() => {
                if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
              }}
            />
          )}
        </div>
      )}
      {address.get('item') !== '' && (
        <ItemPanel
          key={pair.on}
          pair={pair}
          itemId={address.get('item')}
          items={rows}
          titles={[other.title, `Candidate ${candidate.number}`]}
          onOpen={open}
          onClose={() => address.set({ item: null })}
        />
      )}
    </Card>
  );
}

function OnSwitch({
  pair,
  candidate,
  both,
}: {
  pair: Pair;
  candidate: RunCandidate;
  both: boolean | undefined;
}) {
  const address = useAddress();
  if (!both && pair.on === 'search' && !heldOut(candidate.experiments)) return null;
  return (
    <Segmented<On>
      label="Items of the search or held-out ones"
      options={[
        { value: 'search', label: 'Search items' },
        { value: 'held_out', label: 'Held-out items' },
      ]}
      chosen={pair.on}
      onChoose={(value) =>
        address.set({ on: value === 'search' ? null : value, item: null, items: null })
      }
    />
  );
}

function NoItems({ pair }: { pair: Pair }) {
  const address = useAddress();
  return (
    <Empty
      title={
        pair.on === 'held_out'
          ? 'The two never both ran on held-out items'
          : 'No item ran under both'
      }
    >
      <p>
        {pair.on === 'held_out'
          ? 'Only the baseline and the best candidate do, at the end of a run.'
          : 'One of them was stopped before it began, or ran on other mini-batches.'}
      </p>
      <button
        type="button"
        className="btn small"
        onClick={() => address.set({ against: 'baseline', item: null, items: null })}
      >
        Compare with the baseline
      </button>
    </Empty>
  );
}
