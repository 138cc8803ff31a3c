import { useDeferredValue } from 'react';
import { Link, useParams } from 'wouter';
import { answer, api } from '@/api/client';
import { Card } from '@/components/Card';
import { DeleteButton } from '@/components/form/DeleteButton';
import { SearchInput } from '@/components/list/SearchBox';
import { Page } from '@/components/shell/Page';
import { Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import { counted } from '@/lib/format';
import { useAddress } from '@/lib/address';
import { useSuites } from '@/api/choices';
import { useDataset, useDatasetItems } from './data';
import { ItemTable } from './ItemTable';
import { itemsWords } from './words';
import './data.css';

export default function Dataset() {
  const { id } = useParams<{ id: string }>();
  const dataset = useDataset(id);
  return (
    <Page
      title={dataset.data?.name ?? 'Dataset'}
      crumbs={[{ label: 'Data', to: '/suites' }]}
      badge={dataset.data && <span className="badge">{counted(dataset.data.items, 'item')}</span>}
      actions={
        <>
          {dataset.data && (
            <DeleteButton
              what={`the dataset ${dataset.data.name}`}
              send={() =>
                answer(
                  api.DELETE('/v1/private/datasets/{dataset_id}', {
                    params: { path: { dataset_id: id } },
                  }),
                )
              }
              forget={['datasets']}
              to="/suites"
            >
              All of it goes, {counted(dataset.data.items, 'item')}. This cannot be undone.
            </DeleteButton>
          )}
          <Link className="btn" href={`/suites?new=suite&dataset=${id}`}>
            New suite on it
          </Link>
        </>
      }
    >
      <Loaded query={dataset}>
        {(view) => (
          <>
            <dl className="kv">
              <dt>Stored</dt>
              <dd>
                <Time at={view.created_at} />
              </dd>
              <dt>Used by</dt>
              <dd>
                <UsedBy id={id} />
              </dd>
              <dt>Fingerprint</dt>
              <dd className="mono small">{view.fingerprint}</dd>
            </dl>
            <Items id={id} total={view.items} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function UsedBy({ id }: { id: string }) {
  const suites = useSuites();
  const using = suites.data?.items.filter((suite) => suite.dataset_id === id) ?? [];
  if (using.length === 0) return <span className="muted">no suite that is stored here</span>;
  return (
    <span className="row">
      {using.map((suite) => (
        <Link key={suite.suite_id} href={`/suites/${encodeURIComponent(suite.name)}`}>
          {suite.name}
        </Link>
      ))}
    </span>
  );
}

function Items({ id, total }: { id: string; total: number }) {
  const address = useAddress();
  const sought = useDeferredValue(address.get('q').trim());
  const items = useDatasetItems(id, sought);
  const rows = items.data?.pages.flatMap((page) => page.items) ?? [];
  const all = sought === '' ? total : items.hasNextPage ? null : rows.length;
  return (
    <Card
      title={items.data ? `Items (${itemsWords(rows.length, all)})` : 'Items'}
      flush
      actions={
        <SearchInput
          className="data-search"
          label="Search items"
          placeholder="Search items"
          value={address.get('q')}
          onChange={(q) => address.set({ q })}
        />
      }
    >
      <Loaded query={items}>
        {() => (
          <ItemTable
            rows={rows}
            showSplit={rows.some((row) => row.split)}
            more={{
              has: items.hasNextPage,
              busy: items.isFetchingNextPage,
              load: () => void items.fetchNextPage(),
            }}
          />
        )}
      </Loaded>
    </Card>
  );
}
