/** The toasts that are shown: times, focus and keys are Zag's. */
import { normalizeProps, useMachine } from '@zag-js/preact';
import * as zag from '@zag-js/toast';
import { X } from 'lucide';
import { useEffect } from 'preact/hooks';
import { problemOf } from '../api/problem.ts';
import { text } from '../text/words.ts';
import { Icon } from './icon.tsx';
import { wordsOf } from './problem.tsx';
import { type Toast, toast, toasts } from './toast.ts';

const store = zag.createStore({ placement: 'bottom-end', gap: 8, max: 4, removeDelay: 0 });

const SHOWN_MS = 5000;
const UNDO_MS = 10_000;
const REGION_MS = 100;

/** A region that is spoken politely. It is there before its first toast. */
export function ToastRegion() {
  const service = useMachine(zag.group.machine, { id: 'toasts', store });
  const api = zag.group.connect(service, normalizeProps);
  const waiting = toasts.value;
  useEffect(() => {
    if (!waiting?.length) return;
    toasts.value = [];
    // Screen readers report what is added to a region that they know.
    setTimeout(() => waiting.forEach(show), REGION_MS);
  }, [waiting]);
  const region = { ...api.getGroupProps(), 'aria-label': text.toast.region };
  return (
    <div {...region} class="toasts">
      {api.getToasts().map((props, index) => (
        <ToastCard key={props.id} props={props} index={index} parent={service} />
      ))}
    </div>
  );
}

function show({ words, undo }: Toast): void {
  const action = undo && { label: text.toast.undo, onClick: () => void undone(undo) };
  store.create({ title: words, duration: undo ? UNDO_MS : SHOWN_MS, ...(action && { action }) });
}

async function undone(undo: () => Promise<string>): Promise<void> {
  try {
    toast(await undo());
  } catch (error) {
    const problem = problemOf(error);
    if (problem) toast(wordsOf(problem));
  }
}

type ToastCardProps = Readonly<{ props: Partial<zag.Props>; index: number; parent: zag.GroupService }>;

function ToastCard({ props, index, parent }: ToastCardProps) {
  const { id = '', duration = SHOWN_MS, removeDelay = 0, type = 'info', ...others } = props;
  const service = useMachine(zag.machine, { ...others, id, duration, removeDelay, type, index, parent });
  const api = zag.connect(service, normalizeProps);
  return (
    // The region puts one below the other: Zag's own places overlap.
    <div {...api.getRootProps()} class="toast" style={{}}>
      <p {...api.getTitleProps()}>{api.title}</p>
      {props.action && <button {...api.getActionTriggerProps()}>{props.action.label}</button>}
      <button {...api.getCloseTriggerProps()} class="plain" aria-label={text.toast.dismiss}>
        <Icon of={X} />
      </button>
    </div>
  );
}
