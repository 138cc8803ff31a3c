import { useEffect, useState, useSyncExternalStore } from 'react';
import { Link, useParams } from 'wouter';
import { answer, api } from '@/api/client';
import { Field } from '@/components/form/Field';
import { rememberedPerson, rememberPerson } from '@/components/form/SignFields';
import { Page } from '@/components/shell/Page';
import { Failure, Loading } from '@/components/States';
import { count, counted } from '@/lib/format';
import { useShortcuts } from '@/lib/keys';
import { Labelling, keyOf, WINDOW, type Value, type View } from './labelling';
import { TaskCard } from './TaskCard';
import '../labels.css';

const PERSON = 'burnish.labels.person';

/** Labelling by keyboard: whoever labels gives a name, and sees what is to be labelled and no more. */
export default function Label() {
  const { name } = useParams<{ name: string }>();
  const [labelling, begin] = useState<Labelling | null>(() => {
    const person = sessionStorage.getItem(PERSON);
    return person ? open(name, person) : null;
  });
  if (labelling) return <Work name={name} labelling={labelling} onLeave={() => begin(null)} />;
  return <Welcome name={name} onBegin={(person) => begin(open(name, person))} />;
}

function open(set: string, person: string): Labelling {
  sessionStorage.setItem(PERSON, person);
  const path = { label_set: set };
  const made = new Labelling(
    set,
    person,
    {
      ask: (start) =>
        answer(
          api.GET('/v1/private/label-sets/{label_set}/tasks', {
            params: {
              path,
              query: { person, limit: WINDOW, ...(start !== null && { start }) },
            },
          }),
        ),
      send: (one) =>
        answer(
          api.PUT('/v1/private/label-sets/{label_set}/labels', {
            params: { path: { label_set: one.set } },
            body: one.label,
          }),
        ),
    },
    sessionStorage,
  );
  void made.open();
  return made;
}

const crumbs = (name: string) => [
  { label: 'Labels', to: '/labels' },
  { label: name, to: `/labels/${encodeURIComponent(name)}` },
];

function Welcome({ name, onBegin }: { name: string; onBegin: (person: string) => void }) {
  const [person, setPerson] = useState(rememberedPerson);
  return (
    <Page title="Label" crumbs={crumbs(name)}>
      <form
        className="labels-welcome stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (person.trim() === '') return;
          rememberPerson(person.trim());
          onBegin(person.trim());
        }}
      >
        <Field label="Your name" hint="The same as last time goes on where you left off.">
          {(given) => (
            <input
              {...given}
              ref={(input) => input?.focus()}
              className="input"
              autoComplete="name"
              maxLength={100}
              value={person}
              onChange={(event) => setPerson(event.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="btn primary" disabled={person.trim() === ''}>
          Begin
        </button>
        <p className="muted small">
          You see the items in an order of your own, and neither who wrote an output, nor scores,
          nor what others said. Each label is kept at once.
        </p>
      </form>
    </Page>
  );
}

function Work({
  name,
  labelling,
  onLeave,
}: {
  name: string;
  labelling: Labelling;
  onLeave: () => void;
}) {
  const view = useSyncExternalStore(labelling.subscribe, labelling.view);
  const { head, task, unsent } = view;
  useEffect(() => {
    if (unsent === 0) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [unsent]);
  const values = head?.values ?? [];
  const key = (value: Value) => keyOf(head?.kind ?? 'pass', value, values.indexOf(value));
  useShortcuts([
    ...values.map((value) => ({
      keys: key(value),
      says: `Label ${value}`,
      act: () => labelling.give(value),
    })),
    {
      keys: 'c',
      says: 'Comment; Esc leaves it',
      act: () => document.querySelector<HTMLTextAreaElement>('[data-comment]')?.focus(),
    },
    { keys: 's', says: 'Skip for now', act: labelling.skip },
    { keys: 'u', says: 'Undo the last label', act: labelling.undo },
    { keys: 'n', says: 'Next item', act: labelling.next },
    { keys: 'b', says: 'Item before', act: labelling.back },
  ]);
  const leave = () => {
    sessionStorage.removeItem(PERSON);
    onLeave();
  };
  return (
    <Page
      title={`Label ${head?.name ?? name}`}
      crumbs={crumbs(name)}
      actions={
        <button type="button" className="btn small" disabled={unsent > 0} onClick={leave}>
          Somebody else
        </button>
      }
    >
      <div className="labels-work">
        {head && <Progress view={view} total={head.total} />}
        {view.error && <Failure error={view.error} retry={() => void labelling.open()} />}
        {view.refused && <Failure error={view.refused} />}
        {head && head.instructions !== '' && (
          <p className="notice info labels-instructions">{head.instructions}</p>
        )}
        {!head && !view.error && <Loading what="Loading the items" />}
        {head && task && (
          <TaskCard
            key={task.item_id}
            task={task}
            values={values}
            keyOf={key}
            onGive={(value) => labelling.give(value)}
            onComment={(text) => labelling.comment(text)}
          />
        )}
        {head && !task && (view.seeking || view.position < head.total) && (
          <Loading what="Loading the item" />
        )}
        {head && view.position >= head.total && !view.seeking && (
          <div className="empty" data-done={view.labelled >= head.total}>
            <h2>{view.labelled >= head.total ? 'All done' : 'That was the last item'}</h2>
            <p>
              {count(view.labelled)} of {counted(head.total, 'item')} are labelled and kept.
            </p>
            <Link className="btn primary" href={`/labels/${encodeURIComponent(name)}`}>
              Show agreement
            </Link>
          </div>
        )}
        <div className="row labels-ways">
          <Way keys="b" says="Back" act={labelling.back} disabled={view.position === 0} />
          <Way keys="s" says="Skip" act={labelling.skip} disabled={!task} />
          <Way keys="n" says="Next" act={labelling.next} disabled={!task} />
          <Way keys="u" says="Undo" act={labelling.undo} disabled={view.undoable === 0} />
        </div>
      </div>
    </Page>
  );
}

function Progress({ view, total }: { view: View; total: number }) {
  const at = Math.min(view.position + 1, total);
  return (
    <div className="stack tight">
      <div className="row between small">
        <span role="status" data-position={view.position} data-labelled={view.labelled}>
          Item {count(at)} of {count(total)} · {count(view.labelled)} labelled
          {view.skipped > 0 && ` · ${count(view.skipped)} skipped`}
        </span>
        <span className="muted" data-unsent={view.unsent}>
          {view.unsent === 0 ? 'All kept' : `${count(view.unsent)} on their way`}
        </span>
      </div>
      <div className="bar" aria-hidden="true">
        <span style={{ width: `${(100 * view.labelled) / total}%` }} />
      </div>
    </div>
  );
}

function Way(props: { keys: string; says: string; act: () => void; disabled: boolean }) {
  return (
    <button type="button" className="btn small" disabled={props.disabled} onClick={props.act}>
      {props.says} <kbd className="kbd">{props.keys}</kbd>
    </button>
  );
}
