/** A change that a person confirms or fills in, from the question to its result. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction } from '../api/action.ts';
import { newKey } from '../api/request.ts';
import { text } from '../text/text.ts';
import { ApprovalNote, ApproveButton, useApproval } from './approval/approval.tsx';
import { Dialog } from './dialog.tsx';
import { ProblemNotice } from './problem.tsx';

interface ActionDialogProps {
  readonly title: string;
  /** The words of the button that carries it out. */
  readonly submit: string;
  readonly isDangerous?: boolean;
  /** False while an entry is missing or wrong. */
  readonly isReady?: boolean;
  /** Carries it out. `key` is the Idempotency-Key, the same for each attempt with the same entries. The dialog closes when it resolves. */
  readonly onSubmit: (key: string) => Promise<void>;
  readonly onClose: () => void;
  /** The question, or the fields. They stay as they are after a failure. */
  readonly children: ComponentChildren;
}

/** A dialog with a form. Enter carries out, Esc leaves. */
export function ActionDialog(props: ActionDialogProps) {
  const { title, submit, isDangerous = false, isReady = true, onSubmit, onClose, children } = props;
  const key = useRef(newKey());
  const { busy, problem, run } = useAction();
  const approval = useApproval();
  const submitForm = async (event: Event) => {
    event.preventDefault();
    if (isReady && (await run(() => onSubmit(key.current)))) onClose();
  };
  const renewKey = () => {
    key.current = newKey();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submitForm} onInput={renewKey}>
        {children}
        <ProblemNotice problem={problem.value} />
        <ApprovalNote approval={approval} />
        <p class="actions">
          <button type="button" onClick={onClose}>
            {text.value.common.cancel}
          </button>
          <ApproveButton
            approval={approval}
            type="submit"
            class={isDangerous ? 'danger' : 'main'}
            disabled={busy.value || !isReady}
          >
            {submit}
          </ApproveButton>
        </p>
      </form>
    </Dialog>
  );
}
