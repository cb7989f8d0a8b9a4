package keystone

import (
	"context"
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/providers"
)

// defaultDomain is the domain of users without a domain of their own, and of their projects.
const defaultDomain = "Default"

// owned, before CLOUD/SERVICE, marks what the job has registered.
const owned = "Managed by kolla: "

// mark returns the mark of the owner.
func (c *comparison) mark() string { return owned + c.wanted.Owner }

// foreign reports whether another cloud has marked an entry.
func (c *comparison) foreign(mark any) bool {
	text, _ := mark.(string)
	cloud, _, _ := strings.Cut(c.wanted.Owner, "/")
	return strings.HasPrefix(text, owned) && !strings.HasPrefix(text, owned+cloud+"/")
}

// roles compares the further roles.
func (c *comparison) roles(ctx context.Context) error {
	for _, name := range c.wanted.Roles {
		if _, err := c.role(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// role returns the ID of a role. If there is none, it is a difference.
func (c *comparison) role(ctx context.Context, name string) (id string, err error) {
	all, err := c.list(ctx, "roles")
	return c.named(all, err, "roles", name)
}

// named returns the ID of the entry with a name. If there is none, it is a difference. Keystone's
// database does not distinguish between small and large letters.
func (c *comparison) named(all []entry, err error, kind, name string) (string, error) {
	if err != nil {
		return "", err
	}
	other := ""
	for _, e := range all {
		if e.Name == name {
			return e.ID, nil
		}
		if strings.EqualFold(e.Name, name) {
			other = e.ID
		}
	}
	if other == "" {
		c.differs(fmt.Sprintf("%s[%q].name", kind, name), name, nil)
	}
	return other, nil
}

// users compares the users, with their domains, projects and roles.
func (c *comparison) users(ctx context.Context) error {
	for _, user := range c.wanted.Users {
		if err := c.user(ctx, user); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) user(ctx context.Context, user providers.RegisteredUser) error {
	path := fmt.Sprintf("users[%q]", user.Name)
	if user.Domain != defaultDomain {
		path = fmt.Sprintf("users[%q]", user.Domain+"/"+user.Name)
	}
	domain, err := c.domain(ctx, user.Domain)
	if err != nil {
		return err
	}
	scope, id, in := "domain", domain, user.Domain
	if user.Project != "" {
		scope, in = "project", user.Project
		if id, err = c.project(ctx, user.Project); err != nil {
			return err
		}
	}
	var found []entry
	if domain != "" {
		if found, err = c.list(ctx, "users", "name", user.Name, "domain_id", domain); err != nil {
			return err
		}
	}
	has := map[string]bool{}
	if len(found) == 0 {
		c.differs(path+".name", user.Name, nil)
	} else {
		c.compare(path+".enabled", true, found[0].Enabled)
		c.compare(path+".kolla_owner", c.mark(), found[0].Owner)
		if has, err = c.assigned(ctx, found[0].ID, scope, id); err != nil {
			return err
		}
	}
	for _, name := range user.Roles {
		role, err := c.role(ctx, name)
		if err != nil {
			return err
		}
		if role == "" || !has[role] {
			c.differs(fmt.Sprintf("%s.roles[%q].%s", path, name, scope), in, nil)
		}
	}
	return nil
}

// domain returns the ID of a domain. If there is none, it is a difference.
func (c *comparison) domain(ctx context.Context, name string) (id string, err error) {
	all, err := c.list(ctx, "domains", "name", name)
	return c.named(all, err, "domains", name)
}

// project returns the ID of a project in the domain Default. If there is none, it is a difference.
func (c *comparison) project(ctx context.Context, name string) (id string, err error) {
	domain, err := c.domain(ctx, defaultDomain)
	if err != nil || domain == "" {
		return "", err
	}
	all, err := c.list(ctx, "projects", "name", name, "domain_id", domain)
	return c.named(all, err, "projects", name)
}

// assigned returns the IDs of the roles that a user has in a project or for a domain.
func (c *comparison) assigned(ctx context.Context, user, scope, id string) (map[string]bool, error) {
	has := map[string]bool{}
	if id == "" {
		return has, nil
	}
	all, err := c.list(ctx, "role_assignments", "scope."+scope+".id", id)
	for _, e := range all {
		in := e.Scope.Domain
		if scope == "project" {
			in = e.Scope.Project
		}
		if e.User.ID == user && in.ID == id {
			has[e.Role.ID] = true
		}
	}
	return has, err
}
