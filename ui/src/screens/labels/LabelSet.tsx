import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { answer, api, type Schemas } from '@/api/client';
import { authorization } from '@/api/key';
import { Card, Stat } from '@/components/Card';
import { DeleteButton } from '@/components/form/DeleteButton';
import { Page } from '@/components/shell/Page';
import { say } from '@/components/shell/Toasts';
import { Empty, Failure, Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import { count, counted, percent } from '@/lib/format';
import { formatOf } from '@/screens/data/words';
import {
  estimateWords,
  interval100,
  rulesWords,
  useAgreement,
  useLabelSet,
  useVersions,
  type LabelSet as Set,
} from './data';
import './labels.css';

/** Who labelled how much, how people agree, on what they differ, and what was kept of it. */
export default function LabelSet() {
  const { name } = useParams<{ name: string }>();
  const query = useLabelSet(name);
  return (
    <Page
      title={name}
      crumbs={[{ label: 'Labels', to: '/labels' }]}
      badge={query.data && <span className="badge">{rulesWords(query.data)}</span>}
      actions={
        <>
          <DeleteButton
            what={`the label set ${name}`}
            send={() =>
              answer(
                api.DELETE('/v1/private/label-sets/{label_set}', {
                  params: { path: { label_set: name } },
                }),
              )
            }
            forget={['labels']}
            to="/labels"
          >
            All that people said goes with it. Datasets that were made of it stay.
          </DeleteButton>
          <Upload name={name} />
          <button type="button" className="btn" onClick={() => void download(name)}>
            Labels as CSV
          </button>
          <Link className="btn primary" href={`/labels/${encodeURIComponent(name)}/label`}>
            Label
          </Link>
        </>
      }
    >
      <Loaded query={query}>
        {(set) => (
          <>
            <People set={set} />
            <Agreement set={set} />
            <Versions name={name} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function People({ set }: { set: Set }) {
  return (
    <Card title="People">
      {set.people.length === 0 && <p className="muted">Nobody has labelled anything yet.</p>}
      <div className="stack">
        {set.people.map((one) => (
          <div key={one.person} className="stack tight" data-person={one.person}>
            <div className="row between small">
              <strong>{one.person}</strong>
              <span>
                {count(one.labelled)} of {count(set.items)}
                {one.skipped > 0 && `, ${count(one.skipped)} skipped`}
              </span>
            </div>
            <div className="bar" aria-hidden="true">
              <span style={{ width: `${(100 * one.labelled) / set.items}%` }} />
            </div>
          </div>
        ))}
      </div>
    </Card>
  );
}

function Agreement({ set }: { set: Set }) {
  const given = set.people.reduce((sum, one) => sum + one.labelled, 0);
  const query = useAgreement(set.name, given);
  return (
    <Loaded query={query}>
      {(found) =>
        found.shared === 0 ? (
          <Card title="Agreement">
            <p className="muted">It shows once two people have labelled the same items.</p>
          </Card>
        ) : (
          <>
            <div className="grid-cards">
              <Stat label="All agree" value={percent(found.unanimous?.value)}>
                {interval100(found.unanimous)} of {counted(found.shared, 'item')} that two or more
                labelled
              </Stat>
              <Stat label="They differ on" value={count(found.differing)}>
                items
              </Stat>
            </div>
            <Card title="Agreement of each two" flush>
              <div className="table-wrap">
                <table className="table">
                  <thead>
                    <tr>
                      <th>People</th>
                      <th className="num">Items</th>
                      <th className="num">Agreement</th>
                      <th className="num">Cohen’s kappa</th>
                    </tr>
                  </thead>
                  <tbody>
                    {found.pairs.map((pair) => (
                      <tr key={pair.people.join(' ')} data-pair={pair.people.join(' ')}>
                        <td>{pair.people.join(' and ')}</td>
                        <td className="num">{count(pair.rows)}</td>
                        <td className="num">{estimateWords(pair.agreement)}</td>
                        <td className="num">
                          {pair.kappa ? estimateWords(pair.kappa, false) : 'none: all alike'}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </Card>
            {found.items.length > 0 && (
              <Card title={`Where they differ (${count(found.differing)})`} flush>
                {found.items.map((item) => (
                  <Differing key={item.item_id} item={item} />
                ))}
              </Card>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Differing({ item }: { item: Schemas['DifferingItem'] }) {
  const outputs = [item.output, item.other].filter((one) => one !== null);
  const texts = outputs.length > 0 ? outputs : [JSON.stringify(item.fields)];
  return (
    <div className="labels-differing" data-differs={item.item_id}>
      <div className="row">
        <span className="mono small">{item.item_id}</span>
        {item.labels.map((one) => (
          <span key={one.person} className="badge" title={one.comment}>
            {one.person}: {one.value}
          </span>
        ))}
        <span className="muted small">
          {item.label === null ? 'undecided' : `together: ${item.label}`}
        </span>
      </div>
      <div className={texts.length > 1 ? 'two' : undefined}>
        {texts.map((text, index) => (
          <pre key={index} tabIndex={0}>
            {text}
          </pre>
        ))}
      </div>
      {item.labels
        .filter((one) => one.comment !== '')
        .map((one) => (
          <span key={one.person} className="small">
            {one.person}: “{one.comment}”
          </span>
        ))}
    </div>
  );
}

function Versions({ name }: { name: string }) {
  const query = useVersions(name);
  const cache = useQueryClient();
  const make = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/private/label-sets/{label_set}/versions', {
          params: { path: { label_set: name } },
          body: { note: '' },
        }),
      ),
    onSuccess: (made) => {
      say(`Version ${made.version} has ${counted(made.rows, 'item')} with a label.`);
      void cache.invalidateQueries({ queryKey: ['labels', name] });
      void cache.invalidateQueries({ queryKey: ['datasets'] });
    },
  });
  return (
    <Card
      title="Versions"
      flush
      actions={
        <button
          type="button"
          className="btn small"
          disabled={make.isPending}
          onClick={() => make.mutate()}
        >
          Make a version
        </button>
      }
    >
      {make.error && <Failure error={make.error} />}
      <Loaded query={query}>
        {(versions) =>
          versions.length === 0 ? (
            <Empty title="No version yet">
              A version keeps what people say now, as a dataset that judges are checked against.
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>Version</th>
                    <th className="num">Items</th>
                    <th className="num">Labels</th>
                    <th className="num">Undecided</th>
                    <th>Dataset</th>
                    <th>Made</th>
                    <th>Digest</th>
                  </tr>
                </thead>
                <tbody>
                  {versions.map((one) => (
                    <tr key={one.version} data-version={one.version}>
                      <td>{one.version}</td>
                      <td className="num">{count(one.rows)}</td>
                      <td className="num">{count(one.labels)}</td>
                      <td className="num">{count(one.undecided)}</td>
                      <td>
                        <Link href={`/datasets/${one.dataset_id}`}>rows</Link>
                      </td>
                      <td>
                        <Time at={one.created_at} />
                      </td>
                      <td className="mono small" title={one.digest}>
                        {one.digest.slice(0, 12)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}

/** A file of labels: all are taken, or none, and each bad row is named. */
function Upload({ name }: { name: string }) {
  const cache = useQueryClient();
  const send = useMutation({
    mutationFn: async (file: File) => {
      const body = (await file.text()) as never;
      const format = formatOf(file.name)?.format ?? 'csv';
      return await answer(
        api.POST('/v1/private/label-sets/{label_set}/labels', {
          params: { path: { label_set: name }, query: { format } },
          body,
          bodySerializer: (text) => text as unknown as string,
        }),
      );
    },
    onSuccess: (taken) => {
      say(`${counted(taken.labels, 'label')}, ${count(taken.new)} of them new`);
      void cache.invalidateQueries({ queryKey: ['labels'] });
    },
  });
  return (
    <>
      <label className="btn labels-file">
        {send.isPending ? 'Sending…' : 'Upload labels'}
        <input
          type="file"
          accept=".csv,.jsonl"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = '';
            if (file) send.mutate(file);
          }}
        />
      </label>
      {send.error && <Failure error={send.error} />}
    </>
  );
}

/** With the key in a header, which a plain link cannot send. */
async function download(name: string): Promise<void> {
  const path = `/v1/private/label-sets/${encodeURIComponent(name)}/labels`;
  const response = await fetch(path, { headers: authorization() });
  if (!response.ok) return say(`The server answered ${response.status}.`, 'bad');
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.csv`;
  link.click();
  // The browser reads it after the click; it may take a moment.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
