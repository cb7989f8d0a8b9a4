package mariadb

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/providers"
)

// The statements. Each is sent once.
const (
	readDatabases = "SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA"
	// The users that may log in from everywhere.
	readUsers      = "SELECT User, Priv FROM mysql.global_priv WHERE Host = '%'"
	readPrivileges = "SELECT * FROM mysql.db WHERE Host = '%'"
)

// native is the plugin of users whose password is compared.
const native = "mysql_native_password"

// comparison is the comparison of one database with its user.
type comparison struct {
	*session
	wanted *providers.DatabaseRegistration
	found  []providers.Difference
}

// differs notes a difference.
func (c *comparison) differs(path string, declared, live any) {
	c.found = append(c.found, providers.Difference{Server: product, Path: path, Declared: declared, Live: live})
}

// database compares the database.
func (c *comparison) database(ctx context.Context) error {
	all, err := c.query(ctx, readDatabases)
	if err != nil {
		return err
	}
	path := fmt.Sprintf("databases[%q]", c.wanted.Name)
	at := slices.IndexFunc(all, func(r row) bool { return r["SCHEMA_NAME"] == c.wanted.Name })
	if at < 0 {
		c.differs(path+".name", c.wanted.Name, nil)
		return nil
	}
	if set := all[at]["DEFAULT_CHARACTER_SET_NAME"]; c.wanted.CharacterSet != "" && characterSet(set) != characterSet(c.wanted.CharacterSet) {
		c.differs(path+".character_set", c.wanted.CharacterSet, set)
	}
	return nil
}

// characterSet returns the present name of a character set, in lower case.
func characterSet(name string) string {
	if name = strings.ToLower(name); name == "utf8" {
		return "utf8mb3" // up to MariaDB 10.5
	}
	return name
}

// account is what MariaDB stores of a user, as mysql.global_priv has it.
type account struct {
	Plugin   string
	Hash     string            `json:"authentication_string"`
	Others   []json.RawMessage `json:"auth_or"` // further ways to log in
	IsLocked bool              `json:"account_locked"`
}

// account returns what MariaDB stores of the user; nil: there is none.
func (c *comparison) account(ctx context.Context) (*account, error) {
	all, err := c.query(ctx, readUsers)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r["User"] != c.wanted.User {
			continue
		}
		a := &account{}
		if json.Unmarshal([]byte(r["Priv"]), a) != nil {
			// The error may quote the hash.
			return nil, &providers.UncomparedError{Why: "MariaDB has another table of users than expected"}
		}
		return a, nil
	}
	return nil, nil
}

// user compares the user, without its password and privileges.
func (c *comparison) user(ctx context.Context) error {
	if c.wanted.User == "" {
		return nil
	}
	found, err := c.account(ctx)
	if err != nil {
		return err
	}
	path := fmt.Sprintf("users[%q]", c.wanted.User)
	switch {
	case found == nil:
		c.differs(path+".name", c.wanted.User, nil)
	case found.IsLocked:
		c.differs(path+".locked", false, true)
	}
	return nil
}

// password compares the password of the user with the hash that MariaDB stores. Nothing is compared if
// the hash is of another kind: other plugins have salts, or ask others.
func (c *comparison) password(ctx context.Context, password string) error {
	if c.wanted.User == "" || password == "" {
		return nil
	}
	found, err := c.account(ctx)
	if err != nil || found == nil || found.Plugin != native || len(found.Others) > 0 {
		return err
	}
	if !strings.EqualFold(found.Hash, nativeHash(password)) {
		c.found = append(c.found, providers.Difference{Server: product, Path: fmt.Sprintf("users[%q].password", c.wanted.User), Secret: true})
	}
	return nil
}

// nativeHash returns the hash of a password as the plugin mysql_native_password stores it.
func nativeHash(password string) string {
	once := sha1.Sum([]byte(password))
	return fmt.Sprintf("*%X", sha1.Sum(once[:]))
}

// privileges compares the privileges of the user for the database. Further privileges are no difference.
func (c *comparison) privileges(ctx context.Context) error {
	if c.wanted.User == "" || len(c.wanted.Privileges) == 0 {
		return nil
	}
	all, err := c.query(ctx, readPrivileges)
	if err != nil {
		return err
	}
	granted, whole := map[string]bool{}, false
	for _, r := range all {
		if r["User"] == c.wanted.User && plainName(r["Db"]) == c.wanted.Name {
			whole = addGranted(granted, r) || whole
		}
	}
	missing := func(privilege string) bool {
		return !whole && (privilege == providers.AllPrivileges || !granted[privilege])
	}
	if !slices.ContainsFunc(c.wanted.Privileges, missing) {
		return nil
	}
	var live any
	if names := sorted(granted); names != "" {
		live = names
	}
	c.differs(fmt.Sprintf("users[%q].privileges[%q]", c.wanted.User, c.wanted.Name), strings.Join(slices.Sorted(slices.Values(c.wanted.Privileges)), ", "), live)
	return nil
}

// plainName returns the name of a database in a grant, where "_" and "%" may be quoted.
func plainName(pattern string) string {
	return strings.NewReplacer(`\_`, "_", `\%`, "%", `\\`, `\`).Replace(pattern)
}

// addGranted adds the privileges in a row of mysql.db, in the words of GRANT, and reports whether they are
// all that this version of MariaDB knows. The privilege to grant others does not count.
func addGranted(granted map[string]bool, r row) (whole bool) {
	const suffix = "_priv"
	whole = true
	for column, value := range r {
		name, ok := strings.CutSuffix(column, suffix)
		if !ok || name == "Grant" {
			continue
		}
		if value != "Y" {
			whole = false
			continue
		}
		name = strings.ToUpper(strings.ReplaceAll(name, "_", " "))
		granted[strings.ReplaceAll(name, "TMP TABLE", "TEMPORARY TABLES")] = true
	}
	return whole
}

func sorted(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}
