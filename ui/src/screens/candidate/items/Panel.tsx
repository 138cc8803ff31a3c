import { useEffect, useEffectEvent } from 'react';
import { Dialog } from '@/components/Dialog';
import { Loaded } from '@/components/States';
import { useAddress } from '@/lib/address';
import { FieldValue } from '@/components/trajectory/FieldValue';
import { isTyping } from '@/lib/keys';
import { useItem, type ComparedItem, type ItemDetail, type Pair } from '../data';
import { ItemSideView } from './SideView';

/** One item in full under both candidates, over the page. `j` and `k` go through the list. */
export function ItemPanel({
  pair,
  itemId,
  items,
  titles,
  onOpen,
  onClose,
}: {
  pair: Pair;
  itemId: string;
  items: readonly ComparedItem[];
  titles: readonly [string, string];
  onOpen: (itemId: string) => void;
  onClose: () => void;
}) {
  const query = useItem(pair, itemId);
  const at = items.findIndex((item) => item.item_id === itemId);
  const before = at > 0 ? items[at - 1] : undefined;
  const next = at >= 0 ? items[at + 1] : undefined;
  const step = useEffectEvent((event: KeyboardEvent) => {
    const box = event.target instanceof HTMLInputElement && event.target.type === 'checkbox';
    if (event.ctrlKey || event.metaKey || event.altKey || (isTyping(event.target) && !box)) return;
    const to = { j: next, k: before }[event.key];
    if (to) onOpen(to.item_id);
  });
  useEffect(() => {
    // The page's own shortcuts rest while a dialog is open.
    const onKey = (event: KeyboardEvent) => step(event);
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <Dialog
      title={`Item ${itemId}`}
      wide
      onClose={onClose}
      foot={
        <>
          <span className="muted small grow">
            {at >= 0 && `${at + 1} of ${items.length} in the list`}
          </span>
          <button
            type="button"
            className="btn small"
            disabled={!before}
            onClick={() => before && onOpen(before.item_id)}
          >
            <kbd className="kbd">k</kbd> Before
          </button>
          <button
            type="button"
            className="btn small"
            disabled={!next}
            onClick={() => next && onOpen(next.item_id)}
          >
            <kbd className="kbd">j</kbd> Next
          </button>
        </>
      }
    >
      <div className="candidate-drawer stack">
        <Loaded query={query} lines={8}>
          {(detail) => <Detail detail={detail} pair={pair} titles={titles} />}
        </Loaded>
      </div>
    </Dialog>
  );
}

function Detail({
  detail,
  pair,
  titles,
}: {
  detail: ItemDetail;
  pair: Pair;
  titles: readonly [string, string];
}) {
  const address = useAddress();
  const side = (id: string) => detail.sides.find((one) => one.candidate_id === id);
  const [before, after] = [side(pair.before), side(pair.after)];
  const alone = pair.before === pair.after;
  const differs = address.get('outputs') === 'diff' && !alone;
  return (
    <>
      <Given detail={detail} />
      <div className="row between">
        <h3>{alone ? 'What it answered' : 'What they answered'}</h3>
        {!alone && (
          <label className="row small">
            <input
              type="checkbox"
              checked={differs}
              onChange={(event) => address.set({ outputs: event.target.checked ? 'diff' : null })}
            />
            Show the outputs as a diff
          </label>
        )}
      </div>
      <div className={alone ? 'stack' : 'candidate-sides'}>
        {!alone && <ItemSideView title={titles[0]} side={before} />}
        <ItemSideView title={titles[1]} side={after} against={differs ? before : undefined} />
      </div>
    </>
  );
}

function Given({ detail }: { detail: ItemDetail }) {
  const expected = new Set(Object.keys(detail.expected));
  const fields = Object.entries(detail.input ?? {}).filter(([name]) => !expected.has(name));
  return (
    <div className="candidate-given">
      <div className="stack tight">
        <h3>Input {detail.split && <span className="badge">{detail.split}</span>}</h3>
        {detail.input === null ? (
          <p className="muted">The dataset’s row was not stored.</p>
        ) : (
          <Fields fields={fields} />
        )}
      </div>
      {expected.size > 0 && (
        <div className="stack tight">
          <h3>Expected</h3>
          <Fields fields={Object.entries(detail.expected)} />
        </div>
      )}
    </div>
  );
}

function Fields({ fields }: { fields: readonly [string, unknown][] }) {
  return (
    <dl className="candidate-fields">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <FieldValue name={name} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
