import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Dialog } from '../Dialog';
import { say } from '../shell/Toasts';
import { Failure } from '../States';

/** Takes something away after a question; what still uses it is what the server answers. */
export function DeleteButton({
  what,
  children,
  send,
  forget,
  to,
}: {
  /** "the agent router". */
  what: string;
  /** What goes and what stays. */
  children: ReactNode;
  send: () => Promise<unknown>;
  /** The first words of queries that are read anew. */
  forget: readonly string[];
  /** Where to go then. */
  to: string;
}) {
  const [asking, setAsking] = useState(false);
  const cache = useQueryClient();
  const [, go] = useLocation();
  const remove = useMutation({
    mutationFn: send,
    onSuccess: () => {
      say(`Deleted ${what}`);
      go(to);
      for (const key of forget) void cache.invalidateQueries({ queryKey: [key] });
    },
  });
  const close = () => {
    setAsking(false);
    remove.reset();
  };
  return (
    <>
      <button type="button" className="btn danger" onClick={() => setAsking(true)}>
        Delete…
      </button>
      {asking && (
        <Dialog
          title={`Delete ${what}?`}
          onClose={close}
          foot={
            <>
              <button type="button" className="btn" onClick={close}>
                Keep it
              </button>
              <button
                type="button"
                className="btn danger"
                disabled={remove.isPending}
                onClick={() => remove.mutate()}
              >
                {remove.isPending ? 'Deleting…' : 'Delete'}
              </button>
            </>
          }
        >
          <p>{children}</p>
          {remove.error && <Failure error={remove.error} />}
        </Dialog>
      )}
    </>
  );
}
