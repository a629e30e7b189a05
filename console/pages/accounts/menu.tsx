/** The menu of the person, at the end of the sidebar. */
import { isHolder, session } from '../../api/session.ts';
import { signOut } from '../../api/tabs.ts';
import { MenuButton, type MenuGroup } from '../../parts/menu.tsx';
import { type ColorTheme, prefer, preferences } from '../../preferences.ts';
import { linkTo } from '../../router.ts';
import { capitalized, languages, speak } from '../../text/text.ts';
import { text } from '../../text/words.ts';

const themes: readonly ColorTheme[] = ['system', 'light', 'dark'];

function groups(): MenuGroup[] {
  const words = text.menu;
  const { theme: present = 'system' } = preferences.value;
  return [
    {
      title: capitalized(text.role[session.value?.user.role ?? 'VIEWER']),
      items: [
        ...(isHolder.value ? [] : [{ words: words.keys, href: linkTo('account') }]),
        { words: words.signOut, onChoose: signOut },
      ],
    },
    {
      title: words.language,
      items: Object.entries(languages).map(([code, name]) => ({
        words: name,
        isChecked: code === document.documentElement.lang,
        onChoose: () => speak(code),
      })),
    },
    {
      title: words.theme,
      items: themes.map(theme => ({
        words: words[theme],
        isChecked: theme === present,
        onChoose: () => prefer(() => ({ theme })),
      })),
    },
  ];
}

/** Name of the person, with the menu. */
export function AccountMenu() {
  const name = session.value?.user.username ?? '';
  return (
    <MenuButton class="account" groups={groups}>
      <span class="avatar" aria-hidden="true">
        {name.slice(0, 1)}
      </span>
      <span>{name}</span>
    </MenuButton>
  );
}
