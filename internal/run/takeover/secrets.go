package takeover

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// secretName matches names of variables and options whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(password|passwd|secret|credential|(^|_)(key|token))$|secret_key|access_key|private_key|password_`)

// urlPassword matches a URL with a password.
var urlPassword = regexp.MustCompile(`://[^/@\s]*:[^/@\s]*@`)

// minKnown is the length from which a value is looked for in other values. Shorter ones are words.
const minKnown = 6

// secretValues returns the values of passwords.
func (in *Input) secretValues() []string {
	var out []string
	for _, v := range in.Extra {
		if v.Secret {
			for _, text := range v.Texts() {
				if len(text) >= minKnown {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// secret gives a secret of a service its value, in a file.
func (c *conversion) secret(b *block, service, name, variable string) {
	v := c.password(variable)
	switch {
	case v.Unresolved: // the report has it
	case v.Text == "":
		c.rep.generated(service, name, variable)
	default:
		file := service + "-" + name
		c.secrets[file] = []byte(v.Text)
		b.block("secret "+quote(name)).set("from_file", quote(SecretsDir+"/"+file), c.place(variable))
		c.rep.secret(v.Variable, SecretsDir+"/"+file, fmt.Sprintf("service %q, secret %q", service, name))
	}
}

// notInNames matches what names of secrets cannot have.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// topSecret makes a secret block for a value and returns a reference to the value.
func (c *conversion) topSecret(name, value string) string {
	name = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(name) > 36 {
		name = strings.Trim(name[:36], "-")
	}
	base := name
	for n := 2; c.secrets[name] != nil && string(c.secrets[name]) != value; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	c.secrets[name] = []byte(value)
	c.doc.block("secret "+quote(name)).set("from_file", quote(SecretsDir+"/"+name), "")
	return "secret." + name + ".value"
}

// heatDefault is the key with which Heat encrypts if nobody sets another: kolla-ansible sets none.
const heatDefault = "notgood but just long enough i t"

// heatKey keeps the key with which Heat has encrypted what is in its database.
func (c *conversion) heatKey() {
	b := c.doc.find(`service "heat"`)
	if b == nil {
		return
	}
	const file = "heat-encryption"
	c.secrets[file] = []byte(heatDefault)
	b.block(`secret "encryption"`).set("from_file", quote(SecretsDir+"/"+file), "Heat's own default: kolla-ansible sets no auth_encryption_key")
}

// pullSecret writes the login at the registry in the form of a Secret.
func (c *conversion) pullSecret(b *block, registry string) {
	user, password := c.value("docker_registry_username"), c.password("docker_registry_password")
	if user.Text == "" || password.Text == "" {
		return
	}
	host, _, _ := strings.Cut(registry, "/")
	login := map[string]any{"auths": map[string]any{host: map[string]string{
		"auth": base64.StdEncoding.EncodeToString([]byte(user.Text + ":" + password.Text)),
	}}}
	content, err := json.Marshal(login)
	if err != nil {
		panic(err) // texts only
	}
	const file = "registry.json"
	c.secrets[file] = content
	b.set("pull_secrets", list([]string{"registry"}), c.place("docker_registry_username"))
	c.carry("cloud: pull_secrets", "docker_registry_username")
	c.rep.secret(password.Variable, SecretsDir+"/"+file, "pull_secrets of the cloud")
	c.rep.next(fmt.Sprintf("Make the Secret with the login at the registry: `kubectl -n openstack create secret generic registry --type=kubernetes.io/dockerconfigjson --from-file=.dockerconfigjson=%s/%s`.", SecretsDir, file))
}

// passwords says what becomes of the values of passwords.yml.
func (c *conversion) passwords() {
	if key, ok := c.secrets["heat-encryption"]; ok && string(key) == heatDefault {
		c.rep.secretNote(fmt.Sprintf("`%s/heat-encryption` has Heat's own default of auth_encryption_key, because kolla-ansible sets none: everybody knows it. Without it, Heat could not read what it stored.", SecretsDir))
	}
	for _, name := range c.Extra.Names() {
		v := c.Extra[name]
		if !v.Secret || c.rep.knows(name) || len(v.Texts()) == 0 || strings.Join(v.Texts(), "") == "" {
			continue
		}
		if row, ok := leftOf(c.rules.Passwords, name); ok {
			c.rep.unused(v, row.Why)
			continue
		}
		c.rep.other(v)
	}
}

// isSecret reports whether the value of an option has to be a secret.
func (c *conversion) isSecret(option, value string) bool {
	if urlPassword.MatchString(value) || slices.ContainsFunc(c.known, func(known string) bool { return strings.Contains(value, known) }) {
		return true
	}
	return secretName.MatchString(option) && !plainNumber.MatchString(value) && value != "" &&
		!strings.HasPrefix(value, "/") && !slices.Contains([]string{"true", "false"}, strings.ToLower(value))
}

// at returns the place of the first switch that is on, or else the file of the variables.
func (c *conversion) at(switches ...string) hcl.Range {
	for _, name := range switches {
		if v := c.value(name); v.At.Filename != "" && v.Bool() {
			return v.At
		}
	}
	return hcl.Range{Filename: c.GlobalsName, Start: hcl.InitialPos, End: hcl.InitialPos}
}
