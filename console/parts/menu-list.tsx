/** An open menu: keys, typing, focus and place are Zag's. */
import { connect, machine } from '@zag-js/menu';
import { normalizeProps, useMachine } from '@zag-js/preact';
import { useId } from 'preact/hooks';

/** Choice in a menu: something to do, a place to go to (`href`), or one of several settings (`isChecked`). */
type MenuItem = { readonly words: string; readonly isDangerous?: boolean; readonly isChecked?: boolean } & (
  | { readonly onChoose: () => void }
  | { readonly href: string }
);

/** Items that belong together, with a title or a line above. */
export type MenuGroup = Readonly<{ title?: string; items: readonly MenuItem[] }>;

interface MenuListProps {
  /** Id of the button that opened it, which gets the focus at the end. */
  readonly button: string;
  readonly groups: readonly MenuGroup[];
  readonly isByKey: boolean;
  readonly onClose: () => void;
}

/** The menu beside its button, on the side that has room. */
export function MenuList({ button, groups, isByKey, onClose }: MenuListProps) {
  const items = new Map(
    groups.flatMap((group, i) => group.items.map((item, j): [string, MenuItem] => [`${i}-${j}`, item])),
  );
  const id = useId();
  const service = useMachine(machine, {
    id,
    ids: { trigger: button },
    defaultOpen: true,
    defaultHighlightedValue: isByKey ? '0-0' : null,
    loopFocus: true,
    positioning: { strategy: 'fixed', placement: 'bottom-end', gutter: 4 },
    onOpenChange: ({ open }) => open || onClose(),
    onSelect({ value }) {
      const item = items.get(value);
      // A dialog returns the focus to what had it.
      document.getElementById(button)?.focus();
      if (item && 'onChoose' in item) item.onChoose();
    },
  });
  const api = connect(service, normalizeProps);
  const propsOf = (value: string, { words, isChecked: checked, isDangerous }: MenuItem) => ({
    ...(checked === undefined
      ? api.getItemProps({ value, valueText: words })
      : api.getOptionItemProps({ type: 'radio', value, valueText: words, checked })),
    class: isDangerous ? 'fault' : undefined,
    children: words,
  });
  return (
    <div {...api.getPositionerProps()}>
      <div {...api.getContentProps()} class="menu">
        {groups.map(({ title, items: some }, i) => (
          <div key={title} {...(title && api.getItemGroupProps({ id: title }))}>
            {title && <p {...api.getItemGroupLabelProps({ htmlFor: title })}>{title}</p>}
            {some.map((item, j) =>
              'href' in item ? (
                <a key={item.words} href={item.href} {...propsOf(`${i}-${j}`, item)} />
              ) : (
                <div key={item.words} {...propsOf(`${i}-${j}`, item)} />
              ),
            )}
          </div>
        ))}
      </div>
    </div>
  );
}
