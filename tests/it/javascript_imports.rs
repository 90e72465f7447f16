//! Do the uses of JavaScript and TypeScript follow aliases, packages of a workspace and default exports?

use serde_json::Value;

use crate::live::{Live, memo};

/// Two apps with the same alias, and the packages of a workspace, one of them named by what a build writes.
fn monorepo() -> Live {
    let live = Live::new();
    let write = |path: &str, text: &str| live.write(path, text);
    write("pnpm-workspace.yaml", "packages:\n  - apps/*\n  - packages/*\n");
    write("package.json", "{\"name\": \"shop\", \"private\": true}\n");
    write("nx.json", "{}\n");
    write("packages/config/package.json", "{\"name\": \"@shop/config\"}\n");
    write(
        "packages/config/app.json",
        "{\n  // for every app\n  \"compilerOptions\": {\"paths\": {\"@/*\": [\"${configDir}/src/*\"],}}\n}\n",
    );
    for app in ["web", "admin"] {
        write(&format!("apps/{app}/package.json"), &format!("{{\"name\": \"@shop/{app}\"}}\n"));
        write(
            &format!("apps/{app}/tsconfig.json"),
            "{\"extends\": [\"@tsconfig/strictest\", \"@shop/config/app.json\"], \"include\": [\"src\"]}\n",
        );
        write(
            &format!("apps/{app}/src/lib/utils.ts"),
            "export function cn(...names: string[]) {\n  return names.join(' ');\n}\n",
        );
        write(
            &format!("apps/{app}/src/page.tsx"),
            "import { cn } from '@/lib/utils';\nimport { formatMoney as format } from '@shop/money';\nimport \
             Card from '@shop/ui/card';\n\nexport default function Page() {\n  return <Card className={cn('a')}>{format(1)}</Card>;\n}\n",
        );
    }
    write("apps/web/src/routes.ts", "const Page = lazy(() => import('./page'));\n");
    write(
        "packages/money/package.json",
        "{\"name\": \"@shop/money\", \"main\": \"dist/index.js\", \"types\": \"dist/index.d.ts\"}\n",
    );
    write("packages/money/src/index.ts", "export * from './format.js';\n");
    write(
        "packages/money/src/format.ts",
        "function money(n: number) {\n  return `${n}`;\n}\nexport { money as formatMoney };\n",
    );
    write(
        "packages/ui/package.json",
        "{\"name\": \"@shop/ui\", \"exports\": {\"./*\": {\"types\": \"./dist/*.d.ts\", \"import\": \"./dist/*.js\"}}}\n",
    );
    write("packages/ui/src/card.tsx", "export default function CardOfShop() {\n  return null;\n}\n");
    live
}

/// Returns place and certainty of each use.
pub(crate) fn uses(live: &Live, target: &str) -> Vec<String> {
    let (exit, answer) = memo(live, &["refs", target, "--wait-ms=60000"]);
    assert!(matches!(exit, 0 | 1), "{answer}");
    let uses = answer["uses"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let shown = |of: &Value| {
        format!("{}:{} {}", of["path"].as_str().unwrap(), of["line"], of["certainty"].as_str().unwrap())
    };
    uses.iter().map(shown).collect()
}

#[test]
fn an_alias_means_the_files_of_its_own_app() {
    let live = monorepo();
    for app in ["web", "admin"] {
        assert_eq!(
            uses(&live, &format!("apps/{app}/src/lib/utils.ts#cn")),
            [format!("apps/{app}/src/page.tsx:1 exact"), format!("apps/{app}/src/page.tsx:6 exact")]
        );
    }
    // The answer follows the configuration as soon as it is written.
    live.write(
        "apps/web/tsconfig.json",
        "{\"compilerOptions\": {\"paths\": {\"@/*\": [\"../admin/src/*\"]}}}\n",
    );
    assert_eq!(uses(&live, "apps/web/src/lib/utils.ts#cn"), [""; 0]);
    assert_eq!(uses(&live, "apps/admin/src/lib/utils.ts#cn").len(), 4);
}

#[test]
fn a_package_of_the_workspace_is_its_source_under_any_name() {
    let live = monorepo();
    assert_eq!(
        uses(&live, "money"),
        [
            "apps/admin/src/page.tsx:2 exact",
            "apps/admin/src/page.tsx:2 exact",
            "apps/admin/src/page.tsx:6 exact",
            "apps/web/src/page.tsx:2 exact",
            "apps/web/src/page.tsx:2 exact",
            "apps/web/src/page.tsx:6 exact",
            "packages/money/src/format.ts:4 exact",
        ]
    );
    assert_eq!(
        uses(&live, "CardOfShop"),
        [
            "apps/admin/src/page.tsx:3 exact",
            "apps/admin/src/page.tsx:6 exact",
            "apps/admin/src/page.tsx:6 exact",
            "apps/web/src/page.tsx:3 exact",
            "apps/web/src/page.tsx:6 exact",
            "apps/web/src/page.tsx:6 exact",
        ]
    );
    assert_eq!(uses(&live, "apps/web/src/page.tsx#Page"), ["apps/web/src/routes.ts:1 exact"]);
    let (_, answer) = memo(&live, &["callees", "apps/web/src/page.tsx#Page"]);
    let called: Vec<&str> =
        answer["found"].as_array().unwrap().iter().filter_map(|of| of["title"].as_str()).collect();
    assert!(called.contains(&"money"), "{answer}");
    let (_, answer) = memo(&live, &["impact", "money"]);
    assert!(answer.to_string().contains("apps/web/src/routes.ts"), "{answer}");
}

#[test]
fn an_element_of_jsx_calls_its_component() {
    let live = Live::idle();
    live.write(
        "src/Button.tsx",
        "export function Button(props: { label: string }) {\n  return <button>{props.label}</button>\n}\n",
    );
    live.write("src/menu.tsx", "export const Item = () => <li />\n");
    live.write(
        "src/Page.tsx",
        "import { Button as Push } from './Button'\nimport * as Menu from './menu'\n\nexport function Page() {\n  return <Push label=\"a\"><Menu.Item /></Push>\n}\n",
    );
    live.start();
    for component in ["Button", "Item"] {
        crate::reached::check(&live, &["callers", component], &["src/Page.tsx Page 1 exact"]);
    }
}
