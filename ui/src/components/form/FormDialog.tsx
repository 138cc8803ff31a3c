import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Dialog } from '../Dialog';
import { Failure, Loading } from '../States';

/** A dialog that is a form: it is sent by its button and by Enter, once it is usable. */
export function FormDialog({
  id,
  title,
  wide = false,
  usable,
  busy = false,
  submit,
  submitting = submit,
  note,
  onSubmit,
  onClose,
  children,
}: {
  id: string;
  title: string;
  wide?: boolean;
  usable: boolean;
  busy?: boolean;
  /** What its button says, and what it says meanwhile. */
  submit: string;
  submitting?: string;
  /** Beside the buttons. */
  note?: ReactNode;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      wide={wide}
      foot={
        <>
          {note}
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" form={id} className="btn primary" disabled={!usable || busy}>
            {busy ? submitting : submit}
          </button>
        </>
      }
    >
      <form
        id={id}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (usable) onSubmit();
        }}
      >
        {children}
      </form>
    </Dialog>
  );
}

/** In place of a form that has nothing to choose from yet. */
export function MissingDialog({
  title,
  agent,
  suite,
  onClose,
}: {
  title: string;
  agent: string;
  suite: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>This needs an agent, which answers, and a suite: items with scorers that judge answers.</p>
      <div className="row">
        {agent === '' && (
          <Link className="btn primary" href="/agents?new=1">
            Make an agent
          </Link>
        )}
        {suite === '' && (
          <Link className="btn primary" href="/suites?new=dataset">
            Upload items and make a suite
          </Link>
        )}
        <Link className="btn" href="/start">
          Show the whole way
        </Link>
      </div>
    </Dialog>
  );
}

/** The same before what can be chosen is known. */
export function WaitingDialog({
  title,
  error,
  retry,
  onClose,
}: {
  title: string;
  error: Error | null;
  retry: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose} wide>
      {error ? (
        <Failure error={error} retry={retry} />
      ) : (
        <Loading lines={6} what="Loading what can be chosen" />
      )}
    </Dialog>
  );
}
