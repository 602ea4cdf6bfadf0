// Common servers in their default configuration, without extra headers.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, startServer, type RunningServer } from "./app.js";

/** The setting in docs/how-to/hosts.md: the block of code below the line that begins with the host's name. */
export function settingFor(host: string): string {
  const text = readFileSync(join(root, "docs/how-to/hosts.md"), "utf8");
  const block = new RegExp(`^${host}\\b[^\\n]*:\\n\\n\`\`\`\\w+\\n(.*?)^\`\`\``, "ms").exec(text)?.[1];
  if (block === undefined) throw new Error(`docs/how-to/hosts.md has no setting for ${host}`);
  return block;
}

/** Writes `config` with FOLDER and RUN (a new folder) replaced, and then starts `program`, a shell command. */
function startConfigured(folder: string, config: string, program: string): Promise<RunningServer> {
  const own = mkdtempSync(join(tmpdir(), "gpt2-server-"));
  writeFileSync(join(own, "server.conf"), config.replaceAll("FOLDER", folder).replaceAll("RUN", own));
  // Only the shell gets the port.
  const command = `cd ${own} && sed -i "s/PORT/$0/" server.conf && exec ${program}`;
  return startServer(folder, "sh", "-c", command.replaceAll("RUN", own), "{port}");
}

export const startPython = (folder: string) =>
  startServer(folder, "python3", "-m", "http.server", "{port}", "--bind", "localhost");

/** Starts nginx with Debian's table of types, `settings` for the server, and `common` ones for all servers. */
export const startNginx = (folder: string, settings = "", common = "") =>
  startConfigured(
    folder,
    `daemon off; pid RUN/nginx.pid; error_log stderr;
    ${process.getuid?.() === 0 ? "user root;" : ""}
    events {}
    http {
      include /etc/nginx/mime.types; default_type application/octet-stream; access_log off; gzip on;
      ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path RUN/${name};`).join(" ")}
      ${common}
      server { listen localhost:PORT; root FOLDER; ${settings} }
    }`,
    "/usr/sbin/nginx -p RUN -c RUN/server.conf",
  );

const debianModules =
  "mpm_event authz_core authz_host access_compat alias autoindex deflate dir filter mime negotiation reqtimeout setenvif";

/** Starts Apache with `modules` and those that Debian switches on, Debian's table of types, and its compression. */
export const startApache = (folder: string, modules: readonly string[] = []) =>
  startConfigured(
    folder,
    `ServerName localhost
    Listen localhost:PORT
    PidFile RUN/apache.pid
    ErrorLog RUN/error.log
    DefaultRuntimeDir RUN
    ${[...debianModules.split(" "), ...modules]
      .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
      .join("\n")}
    TypesConfig /etc/mime.types
    AddType application/x-gzip .gz .tgz
    AddOutputFilterByType DEFLATE text/html text/plain text/xml text/css text/javascript application/javascript application/json application/wasm
    DocumentRoot FOLDER
    <Directory FOLDER>
      Options Indexes FollowSymLinks
      AllowOverride FileInfo
      Require all granted
    </Directory>`,
    "/usr/sbin/apache2 -f RUN/server.conf -D FOREGROUND",
  );

export const startCaddy = (folder: string, settings: string) =>
  startConfigured(
    folder,
    `{
      admin off
      auto_https off
    }
    http://localhost:PORT {
      root * FOLDER
      file_server
      ${settings}
    }`,
    "env XDG_CONFIG_HOME=RUN XDG_DATA_HOME=RUN /usr/bin/caddy run --config RUN/server.conf --adapter caddyfile",
  );
