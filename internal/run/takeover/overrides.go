package takeover

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/run/takeover/ansible"
	"kolla.openstack.org/kolla/lang/ini"
)

// overrides carries the files of node_custom_config over. Files of a service win over those beside the
// directories, so they come later.
func (c *conversion) overrides() {
	if len(c.Config) == 0 {
		c.rep.decide(fmt.Sprintf("No overrides of config files were read: %s has none or does not exist. If the cloud has some, name their directory: -config=DIR.", c.ConfigName))
	}
	names := slices.SortedFunc(maps.Keys(c.Config), func(a, b string) int {
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		row, known := c.rules.fileOf(name)
		switch host := c.hostOf(name); {
		case c.rep.files[name] || path.Base(name) == "nfs_shares":
		case host != "":
			c.rep.file(name, fmt.Sprintf("It is for host %s only, and all pods of a workload read the same files.", host),
				"For other values on some hosts, declare the service twice, with a role each: docs/coming-from-kolla-ansible.md.")
		case !known:
			c.rep.file(name, "kolla does not know the file.", "If a service needs it, mount it with a config block of the service.")
		case row.Why != "":
			c.rep.file(name, row.Why, row.Do)
		case row.Copy:
			c.copyFile(name, row.Service)
		default:
			c.options(name, row.To)
		}
	}
	for name := range c.Copies {
		if strings.HasPrefix(name, "config/") {
			c.doc.block("cloud "+quote(c.Name)).set("config_dir", quote("./config"), c.ConfigName)
		}
	}
}

// hostOf returns the host that a file is for; empty: all.
func (c *conversion) hostOf(name string) string {
	for _, part := range strings.Split(path.Dir(name), "/") {
		if c.Inventory.Hosts[part] != nil {
			return part
		}
	}
	return ""
}

func (c *conversion) copyFile(name, service string) {
	switch content := c.Config[name]; {
	case c.doc.find("service "+quote(service)) == nil:
		c.rep.file(name, fmt.Sprintf("There is no service %q.", service), "Nothing.")
	case c.leaks(string(content)):
		c.rep.file(name, "It contains a value of passwords.yml.", "Give the file to the service with a config block that is sensitive, from "+SecretsDir+".")
	default:
		if at, found := ini.Template(name, content); found {
			c.rep.file(name, fmt.Sprintf("Line %d is an expression of Ansible.", at.Start.Line), "Write the value itself, and put the file into config/"+name+".")
			return
		}
		c.Copies["config/"+name] = content
		c.rep.carryFile(name, "config/"+name)
	}
}

func (c *conversion) leaks(text string) bool {
	return slices.ContainsFunc(c.known, func(known string) bool { return strings.Contains(text, known) })
}

// options turns the options of an INI file into config blocks of services.
func (c *conversion) options(name string, targets []string) {
	var used []string
	for _, target := range targets {
		service, _, _ := strings.Cut(target, ":")
		if service == "*" || c.doc.find("service "+quote(service)) != nil {
			used = append(used, target)
		}
	}
	if len(used) == 0 {
		c.rep.file(name, "The service that reads it is not declared.", "Nothing.")
		return
	}
	shown := path.Join(c.ConfigName, name)
	source, held := c.resolve(c.Config[name])
	assignments, diags := ini.Read(shown, source, true)
	for _, d := range diags {
		if d.Summary != "Template in an override" {
			c.diags = append(c.diags, d)
			continue
		}
		c.rep.line(d.Subject.Filename, d.Subject.Start.Line, "It is an expression of Ansible that depends on more than variables of these files.", fmt.Sprintf("Write the option with its value there: %s.", shownTargets(used)))
	}
	for _, a := range assignments {
		c.option(a, used, held)
	}
	c.rep.carryFile(name, shownTargets(used))
}

// shownTargets names config blocks.
func shownTargets(targets []string) string {
	out := make([]string, len(targets))
	for i, target := range targets {
		service, file, _ := strings.Cut(target, ":")
		if service == "*" {
			service = "cloud: defaults"
		}
		out[i] = fmt.Sprintf("%s: config %q", service, file)
	}
	return strings.Join(out, ", ")
}

// held stands for a password in the text of a file, while the file is read.
const heldMark = "kolla-password-"

var heldPattern = regexp.MustCompile(heldMark + `(\d+)-`)

// expression matches what Ansible replaces within a line.
var expression = regexp.MustCompile(`\{\{[^{}\n]*\}\}`)

// resolve replaces references to variables in a file. A password becomes a mark; held has them.
func (c *conversion) resolve(source []byte) (resolved []byte, held []string) {
	text := expression.ReplaceAllStringFunc(string(source), func(found string) string {
		v := c.scope.Expand(ansible.Set("", found, hcl.Range{}))
		switch {
		case v.Unresolved || strings.ContainsAny(v.Text, "\r\n"):
			return found
		case v.Secret:
			held = append(held, v.Text)
			return fmt.Sprintf("%s%d-", heldMark, len(held)-1)
		}
		return v.Text
	})
	return []byte(text), held
}

// option puts an option into the config blocks of services; a secret value becomes a file.
func (c *conversion) option(a *ini.Assignment, targets, held []string) {
	comment := fmt.Sprintf("%s:%d", a.Range.Filename, a.Range.Start.Line)
	exprs := make([]string, len(a.Values))
	for i, value := range a.Values {
		plain := heldPattern.ReplaceAllStringFunc(value, func(mark string) string {
			var n int
			if _, err := fmt.Sscanf(mark, heldMark+"%d-", &n); err != nil || n < 0 || n >= len(held) {
				return mark
			}
			return held[n]
		})
		service, _, _ := strings.Cut(targets[0], ":")
		switch {
		case a.Section == "DEFAULT" && a.Key == "auth_encryption_key" && strings.HasPrefix(targets[0], "heat:"):
			c.secrets["heat-encryption"] = []byte(plain)
			c.doc.block(`service "heat"`).block(`secret "encryption"`).set("from_file", quote(SecretsDir+"/heat-encryption"), comment)
			c.rep.secretNote(fmt.Sprintf("`%s/heat-encryption` has option auth_encryption_key (%s).", SecretsDir, comment))
			return
		case plain != value || c.isSecret(a.Key, value):
			exprs[i] = c.topSecret(strings.TrimPrefix(service, "*")+"-"+a.Key, plain)
			c.rep.secretNote(fmt.Sprintf("`%s/%s` has option %s of [%s] (%s).", SecretsDir, strings.TrimSuffix(strings.TrimPrefix(exprs[i], "secret."), ".value"), a.Key, a.Section, comment))
		case strings.Contains(value, "\n"):
			exprs[i] = quote(value)
		default:
			exprs[i] = literal(value)
		}
	}
	expr := exprs[0]
	if len(exprs) > 1 {
		for i := range exprs {
			exprs[i] = "[" + exprs[i] + "]"
		}
		expr = "[" + strings.Join(exprs, ", ") + "]"
	}
	for _, target := range targets {
		service, file, _ := strings.Cut(target, ":")
		c.config.set(strings.TrimPrefix(service, "*"), file, a.Section, a.Key, expr, comment)
	}
}
