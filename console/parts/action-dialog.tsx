/** A change that a person confirms or fills in, from the question to its result. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../api/action.ts';
import type { Problem } from '../api/problem.ts';
import { newKey } from '../api/request.ts';
import { text } from '../text/words.ts';
import { ApprovalNote, ApproveButton, useApproval } from './approval/approval.tsx';
import { Button } from './button.tsx';
import { Dialog, keepFocusIn } from './dialog.tsx';
import { ProblemNotice } from './problem.tsx';

interface ApprovedFormProps {
  readonly submit: string;
  readonly isDangerous?: boolean;
  /** False while an entry is missing or wrong. */
  readonly isReady?: boolean;
  readonly onClose: () => void;
  /** The question, or the fields. They stay as they are after a failure. */
  readonly children: ComponentChildren;
}

interface FormState {
  readonly isBusy?: boolean;
  readonly problem: Problem | null;
  /** Called if it is ready. */
  readonly onSubmit: () => void;
  readonly onInput?: () => void;
}

/** A form that a person approves. Enter carries out. */
export function ApprovedForm(props: ApprovedFormProps & FormState) {
  const { submit, isDangerous = false, isReady = true, isBusy = false, problem, onSubmit, onInput, onClose } = props;
  const approval = useApproval();
  const form = useRef<HTMLFormElement>(null);
  // The element that had the focus may have given way to the form.
  useEffect(() => keepFocusIn(form.current), []);
  const submitForm = (event: Event) => {
    event.preventDefault();
    if (isReady) onSubmit();
  };
  return (
    <form ref={form} onSubmit={submitForm} onInput={onInput}>
      {props.children}
      <ProblemNotice problem={problem} />
      <ApprovalNote approval={approval} />
      <p class="actions">
        <Button words={text.common.cancel} onClick={onClose} />
        <ApproveButton
          approval={approval}
          type="submit"
          class={isDangerous ? 'danger' : 'main'}
          disabled={isBusy || !isReady}
        >
          {submit}
        </ApproveButton>
      </p>
    </form>
  );
}

interface ActionDialogProps extends Omit<ApprovedFormProps, 'submit'> {
  readonly title: string;
  /** Absent: the title. */
  readonly submit?: string;
  /**
   * Carries it out. `key` is the Idempotency-Key, the same for each attempt with the same entries. The dialog closes when it
   * resolves, or gives way to the one that `follow` was called with.
   */
  readonly onSubmit: (key: string, follow: (next: ComponentChildren) => void) => Promise<void>;
}

/** A dialog with a form. Esc leaves. */
export function ActionDialog({ title, submit = title, onSubmit, ...form }: ActionDialogProps) {
  const key = useRef(newKey());
  const next = useSignal<ComponentChildren>(null);
  const { busy, problem, run } = useAction();
  const carryOut = async () => {
    let following: ComponentChildren = null;
    await onSubmit(key.current, dialog => {
      following = dialog;
    });
    if (following) next.value = following;
    else form.onClose();
  };
  const renewKey = () => {
    key.current = newKey();
  };
  if (next.value) return <>{next.value}</>;
  return (
    <Dialog title={title} onClose={form.onClose}>
      <ApprovedForm
        {...form}
        submit={submit}
        isBusy={busy.value}
        problem={problem.value}
        onInput={renewKey}
        onSubmit={() => void run(carryOut)}
      />
    </Dialog>
  );
}
