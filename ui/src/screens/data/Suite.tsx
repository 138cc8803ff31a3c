import { lazy, Suspense, useDeferredValue, useState } from 'react';
import { Link, useParams } from 'wouter';
import { answer, api, type Schemas } from '@/api/client';
import { Card, Stat } from '@/components/Card';
import { DeleteButton } from '@/components/form/DeleteButton';
import { SearchInput } from '@/components/list/SearchBox';
import { Page } from '@/components/shell/Page';
import { Loaded } from '@/components/States';
import { Segmented } from '@/components/Tabs';
import { Ticked } from '@/components/form/Ticked';
import { count, counted, percent, score } from '@/lib/format';
import { useAddress } from '@/lib/address';
import { useDataset, useScorers, useSuite, useSuiteItems } from './data';
import { ItemTable } from './ItemTable';
import {
  itemsWords,
  judgedBy,
  refineWords,
  scorerParts,
  shares,
  splitWords,
  type Scorer,
} from './words';
import './data.css';

type View = Schemas['SuiteView'];
const NewSuite = lazy(() => import('./newSuite/Dialog'));

export default function Suite() {
  const { name } = useParams<{ name: string }>();
  const suite = useSuite(name);
  const [editing, setEditing] = useState(false);
  return (
    <Page
      title={name}
      crumbs={[{ label: 'Data', to: '/suites' }]}
      badge={<Badges suite={suite.data} />}
      actions={
        suite.data?.source === 'registry' && (
          <>
            <DeleteButton
              what={`the suite ${name}`}
              send={() =>
                answer(
                  api.DELETE('/v1/private/suites/{suite}', { params: { path: { suite: name } } }),
                )
              }
              forget={['suites']}
              to="/suites"
            >
              Its dataset stays, and so do runs and evaluations on it.
            </DeleteButton>
            <button type="button" className="btn" onClick={() => setEditing(true)}>
              Edit…
            </button>
          </>
        )
      }
    >
      <Loaded query={suite}>
        {(view) => (
          <>
            <Facts suite={view} />
            <Scorers scorers={view.scorers} />
            <Items suite={view} />
            {editing && (
              <Suspense>
                <NewSuite
                  dataset={view.dataset_id ?? ''}
                  like={view}
                  onClose={() => setEditing(false)}
                />
              </Suspense>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Badges({ suite }: { suite: View | undefined }) {
  if (!suite) return null;
  return (
    <span className="badge">
      {suite.source === 'configuration' ? 'burnish.toml' : `version ${suite.version}`}
    </span>
  );
}

function Facts({ suite }: { suite: View }) {
  const dataset = useDataset(suite.dataset_id ?? null);
  return (
    <div className="grid-cards">
      <Stat label="Judged by" value={judgedBy(suite).value}>
        {judgedBy(suite).below}
      </Stat>
      <Stat label="An item passes from" value={score(suite.pass_threshold ?? 1)}>
        {suite.pass_threshold === null ? 'or as its judge says' : 'mean of its scorers'}
      </Stat>
      <Stat label="Each item runs" value={suite.repeats === 1 ? 'once' : `${suite.repeats} times`}>
        {suite.repeats === 1 ? 'no repeats' : 'its score is the mean'}
      </Stat>
      <Stat label="Outputs are refined" value={refineWords(suite.refine).value}>
        {refineWords(suite.refine).below}
      </Stat>
      <Stat label="Items from" value={dataset.data?.name ?? 'a file of the project'}>
        {dataset.data ? (
          <Link href={`/datasets/${dataset.data.dataset_id}`}>
            {counted(dataset.data.items, 'item')}
          </Link>
        ) : (
          <span className="muted">as burnish.toml names it</span>
        )}
      </Stat>
    </div>
  );
}

function Scorers({ scorers }: { scorers: readonly Scorer[] }) {
  const kinds = useScorers();
  return (
    <Card title="Scorers" flush>
      <div className="table-wrap" tabIndex={0} role="region" aria-label="Scorers">
        <table className="table data-scorers">
          <thead>
            <tr>
              <th>Scorer</th>
              <th>What it says</th>
              <th>Settings</th>
            </tr>
          </thead>
          <tbody>
            {scorers.map((scorer, index) => {
              const { kind, settings } = scorerParts(scorer);
              const known = kinds.data?.items.find((one) => one.kind === kind);
              return (
                <tr key={index}>
                  <td className="mono">{kind}</td>
                  <td>{known ? <Ticked text={known.summary} /> : 'A function of the project.'}</td>
                  <td>
                    {settings.length === 0 ? (
                      <span className="muted">as they are by default</span>
                    ) : (
                      <dl className="kv small">
                        {settings.map(([name, value]) => (
                          <div key={name} className="data-setting">
                            <dt>{name}</dt>
                            <dd className="mono">{value}</dd>
                          </div>
                        ))}
                      </dl>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

const SPLITS = ['', 'train', 'validation', 'test'] as const;

function Items({ suite }: { suite: View }) {
  const address = useAddress();
  const split = address.get('split') as (typeof SPLITS)[number];
  const sought = useDeferredValue(address.get('q').trim());
  const items = useSuiteItems(suite.name, sought, split);
  const rows = items.data?.pages.flatMap((page) => page.items) ?? [];
  const first = items.data?.pages[0];
  return (
    <Card
      title={first ? `Items (${itemsWords(rows.length, first.total)})` : 'Items'}
      flush
      actions={
        <>
          <Segmented
            label="Split"
            chosen={split}
            onChoose={(next) => address.set({ split: next || null })}
            options={SPLITS.map((value) => ({ value, label: value || 'all' }))}
          />
          <SearchInput
            className="data-search"
            label="Search items"
            placeholder="Search items"
            value={address.get('q')}
            onChange={(q) => address.set({ q })}
          />
        </>
      }
    >
      {first && (
        <SplitBar splits={first.splits} words={splitWords(suite.split)} power={first.power} />
      )}
      <Loaded query={items}>
        {() => (
          <ItemTable
            rows={rows}
            showSplit
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

function SplitBar({
  splits,
  words,
  power,
}: {
  splits: Record<string, number>;
  words: string;
  power: string;
}) {
  return (
    <div className="card-body data-splits">
      <div className="data-split-bar" aria-hidden="true">
        {shares(splits).map((one) => (
          <span key={one.name} data-split={one.name} style={{ flexGrow: one.share }} />
        ))}
      </div>
      <ul className="data-legend">
        {shares(splits).map((one) => (
          <li key={one.name}>
            <span className="data-swatch" data-split={one.name} aria-hidden="true" />
            {one.name} <strong>{count(one.items)}</strong>{' '}
            <span className="muted">{percent(one.share)}</span>
          </li>
        ))}
        <li className="muted">{words}</li>
        <li className="muted">{power}</li>
      </ul>
    </div>
  );
}
