package smoke

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
)

// Prefix begins the names of all that checks make.
const Prefix = "kolla-check-"

// project is a project of Keystone.
type project struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// newProject returns a project that Keystone does not have yet.
func newProject() project {
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	return project{Name: Prefix + hex.EncodeToString(id)}
}

// owner begins the description of the projects of a cloud's checks. A time follows.
func (c *Cloud) owner() string {
	return fmt.Sprintf("kolla check of cloud %s. It is abandoned after ", c.Name)
}

// slack is how long after its timeout a check may end.
const slack = time.Minute

// described returns the description of a project whose check has just begun.
func (c *Cloud) described() string {
	return c.owner() + time.Now().Add(c.Patience+slack).UTC().Format(time.RFC3339)
}

// abandoned reports whether a project belongs to a check of this cloud that was killed.
func (c *Cloud) abandoned(p project, now time.Time) (ours, over bool) {
	until, ours := strings.CutPrefix(p.Description, c.owner())
	end, err := time.Parse(time.RFC3339, until)
	return ours && strings.HasPrefix(p.Name, Prefix), err == nil && now.After(end)
}

// stayAlive says in the project that its run goes on. Without an answer the next check will fail, or another run may
// take the project for abandoned.
func (t *trial) stayAlive(ctx context.Context) {
	if t.project.ID != "" {
		_ = t.admin.call(ctx, http.MethodPatch, identity, "projects/"+t.project.ID, map[string]any{"project": map[string]any{"description": t.cloud.described()}}, nil)
	}
}

// wantedRoles are the roles of a user who uses all services. Only the first one is needed with the default rules.
var wantedRoles = []string{"member", "creator", "heat_stack_owner"}

// token makes the project and its user, and logs in as this user.
func (t *trial) token(ctx context.Context) error {
	var err error
	if t.admin, err = t.cloud.administrator(ctx, adminProject()); err != nil {
		return err
	}
	password := "k0-" + rand.Text() // has a letter of each case, a digit and a sign, which rules for passwords may want
	t.cloud.Hide(password)
	var made struct {
		Project project
		User    project
	}
	body := map[string]any{"project": map[string]any{"name": t.project.Name, "domain_id": t.admin.domain, "description": t.cloud.described()}}
	if err := t.admin.call(ctx, http.MethodPost, identity, "projects", body, &made); err != nil {
		return err
	}
	t.project = made.Project
	// Rules may want a user to change the first password.
	options := map[string]any{"ignore_change_password_upon_first_use": true}
	body = map[string]any{"user": map[string]any{"name": t.project.Name, "domain_id": t.admin.domain, "password": password, "options": options}}
	if err := t.admin.call(ctx, http.MethodPost, identity, "users", body, &made); err != nil {
		return err
	}
	if err := t.admin.assign(ctx, t.project, made.User.ID); err != nil {
		return err
	}
	t.user, err = t.cloud.logIn(ctx, gophercloud.AuthOptions{Username: t.project.Name, DomainName: defaultDomain, Password: password, Scope: &gophercloud.AuthScope{ProjectID: t.project.ID}})
	return err
}

// assign gives a user the wanted roles in a project.
func (s *session) assign(ctx context.Context, p project, user string) error {
	var found struct{ Roles []item }
	if err := s.call(ctx, http.MethodGet, identity, "roles", nil, &found); err != nil {
		return err
	}
	given := 0
	for _, role := range found.Roles {
		if !slices.Contains(wantedRoles, role.Name) {
			continue
		}
		given++
		if err := s.call(ctx, http.MethodPut, identity, fmt.Sprintf("projects/%s/users/%s/roles/%s", p.ID, user, role.ID), nil, nil); err != nil {
			return err
		}
	}
	if given == 0 {
		return &faultError{problem: "Keystone has none of the roles that a user of a project gets: " + strings.Join(wantedRoles, ", ") + "."}
	}
	return nil
}

// cleanUp removes the project of the run, and projects that killed runs left behind. It returns what it could not
// remove.
func (t *trial) cleanUp(ctx context.Context) (left []string) {
	if t.admin == nil {
		return nil
	}
	if err := t.findProject(ctx); err != nil {
		left = append(left, t.cloud.stays(ctx, t.project, err))
	}
	if t.project.ID != "" {
		t.stayAlive(ctx)
		sent := t.admin.sent
		if t.user != nil {
			sent = t.user.sent
		}
		left = t.cloud.remove(ctx, []project{t.project}, func(service string) bool { return sent[service] })
	}
	others, err := t.cloud.leftBehind(ctx, false)
	if err != nil {
		return left // Keystone worked in this run, and the next one looks again
	}
	return append(left, t.cloud.remove(ctx, others, t.cloud.declares)...)
}

// findProject looks for the project of the run if Keystone may have made it, and the answer was lost.
func (t *trial) findProject(ctx context.Context) (err error) {
	if t.project.ID != "" || !t.admin.sent[identity] {
		return nil
	}
	limited, cancel := t.cloud.limited(ctx)
	defer cancel()
	t.project.ID, err = t.admin.find(limited, identity, "projects", t.project.Name)
	return err
}

// Clean removes what checks of the cloud left behind, also that of checks that run. It returns the names of the
// projects, and what it could not remove.
func Clean(ctx context.Context, cloud *Cloud) (removed, left []string, err error) {
	found, err := cloud.leftBehind(ctx, true)
	if err != nil {
		return nil, nil, errors.New(cloud.told(ctx, err))
	}
	left = cloud.remove(ctx, found, cloud.declares)
	for _, p := range found {
		if !slices.ContainsFunc(left, func(text string) bool { return strings.Contains(text, p.Name) }) {
			removed = append(removed, p.Name)
		}
	}
	return removed, left, ctx.Err()
}

// declares reports whether clients outside can use a service of the configuration.
func (c *Cloud) declares(service string) bool { return c.Services[service].Exposed }

// leftBehind returns the projects of earlier checks, with those of checks that may still run if all is set.
func (c *Cloud) leftBehind(ctx context.Context, all bool) (out []project, err error) {
	limited, cancel := c.limited(ctx)
	defer cancel()
	admin, err := c.administrator(limited, adminProject())
	if err != nil {
		return nil, err
	}
	found, err := admin.projects(limited)
	for _, p := range found {
		if ours, over := c.abandoned(p, time.Now()); ours && (all || over) {
			out = append(out, p)
		}
	}
	return out, err
}

// projects lists the projects of checks, also of other clouds, page by page. A Keystone without pages may cut the list,
// which only the removal of some of them makes shorter: a later run gets the others.
func (s *session) projects(ctx context.Context) (out []project, err error) {
	for query := (url.Values{"domain_id": {s.domain}, "name__startswith": {Prefix}}).Encode(); query != ""; {
		var page struct {
			Projects []project
			Links    struct{ Next string }
		}
		if err := s.call(ctx, http.MethodGet, identity, "projects?"+query, nil, &page); err != nil {
			return nil, err
		}
		out = append(out, page.Projects...)
		_, query, _ = strings.Cut(page.Links.Next, "?")
	}
	return out, nil
}

// remove removes projects, with their users and with all that they have in services. They share the time. It returns
// those that are left, with the reason.
func (c *Cloud) remove(ctx context.Context, projects []project, has func(service string) bool) (left []string) {
	limited, cancel := c.limited(ctx)
	defer cancel()
	for _, p := range projects {
		if err := c.removeProject(limited, p, has); err != nil {
			left = append(left, c.stays(limited, p, err))
		}
	}
	return left
}

// stays says why a project is left.
func (c *Cloud) stays(ctx context.Context, p project, err error) string {
	return fmt.Sprintf("Project %s: %s", p.Name, c.told(ctx, err))
}

// removeProject removes a project. Another run, or -clean, may remove it meanwhile.
func (c *Cloud) removeProject(ctx context.Context, p project, has func(service string) bool) error {
	admin, err := c.administrator(ctx, adminProject())
	if err != nil {
		return err
	}
	path := "projects/" + p.ID
	if err = c.empty(ctx, admin, p, has); err == nil {
		return gone(admin.call(ctx, http.MethodDelete, identity, path, nil, nil))
	}
	if gophercloud.ResponseCodeIs(admin.call(ctx, http.MethodGet, identity, path, nil, nil), http.StatusNotFound) {
		return nil
	}
	return err
}

// empty removes all that a project has, and its users.
func (c *Cloud) empty(ctx context.Context, admin *session, p project, has func(service string) bool) error {
	if err := admin.assign(ctx, p, admin.user); err != nil {
		return err
	}
	// In the project, the administrator is no more than a member, and can remove nothing of others.
	member, err := c.administrator(ctx, &gophercloud.AuthScope{ProjectID: p.ID})
	if err != nil {
		return err
	}
	for _, k := range kinds {
		if !has(k.service) {
			continue
		}
		by := member
		switch k.name {
		case groups:
			by = admin // the default group of a project is not the members'
		case volumes:
			if err := admin.unstick(ctx, member, p, has(compute)); err != nil {
				return err
			}
		}
		if err := by.removeAll(ctx, k, p); err != nil {
			return err
		}
	}
	var found struct{ Users []item }
	if err := admin.call(ctx, http.MethodGet, identity, "users?domain_id="+admin.domain+"&name="+p.Name, nil, &found); err != nil {
		return err
	}
	for _, user := range found.Users {
		if err := gone(admin.call(ctx, http.MethodDelete, identity, "users/"+user.ID, nil, nil)); err != nil {
			return err
		}
	}
	return nil
}

// kind is a kind of things that checks make.
type kind struct {
	service, name string
	query         string // PROJECT is the ID of the project
}

const (
	groups  = "security-groups"
	ports   = "ports"
	routers = "routers"
	volumes = "volumes"
	ofOwner = "?project_id=PROJECT"
)

// kinds are all kinds, in the order in which they are removed. A network takes its subnets along.
var kinds = []kind{
	{stack, "stacks", ""},
	{compute, "servers", ""},
	{network, "floatingips", ofOwner},
	{volume, volumes, ""},
	{network, routers, ofOwner},
	{network, ports, ofOwner},
	{network, "networks", ofOwner},
	{network, groups, ofOwner},
	{image, "images", "?owner=PROJECT"},
	{secret, "secrets", "?limit=100"},
}

// item is a thing in a list of a service.
type item struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	StackName   string `json:"stack_name"`
	SecretRef   string `json:"secret_ref"`
	Project     string `json:"project_id"`
	Owner       string `json:"owner"`        // of an image
	DeviceOwner string `json:"device_owner"` // of a port
	Status      string `json:"status"`
	Tenant      string `json:"os-vol-tenant-attr:tenant_id"` // of a volume
}

// path returns the path of an item of a kind.
func (i item) path(k kind) string {
	switch k.service {
	case stack:
		return k.name + "/" + i.StackName + "/" + i.ID
	case secret:
		return k.name + "/" + last(i.SecretRef)
	}
	return k.name + "/" + i.ID
}

// removeAll removes all items of a kind, and waits until they are gone. A service removes some of them later, and
// refuses to remove those that it still uses. If the time ends, the error is the last refusal.
func (s *session) removeAll(ctx context.Context, k kind, p project) error {
	var refusal error
	err := await(ctx, "Something in "+k.name, func() (bool, string, error) {
		found, err := s.items(ctx, k, p)
		if err != nil || len(found) == 0 {
			return true, "", err
		}
		last := s.removeEach(ctx, k, found)
		if ctx.Err() == nil {
			refusal = last
		}
		return k.name == groups && refusal == nil, "there", nil // Neutron makes the default group again when one lists the groups
	})
	if ctx.Err() != nil && refusal != nil {
		return refusal
	}
	return err
}

// removeEach asks a service to remove items of a kind. It returns the last refusal.
func (s *session) removeEach(ctx context.Context, k kind, items []item) (refusal error) {
	for _, i := range items {
		if k.name == routers {
			if err := s.unplug(ctx, i.ID); err != nil {
				refusal = err
			}
		}
		if err := gone(s.call(ctx, http.MethodDelete, k.service, i.path(k), nil, nil)); err != nil {
			refusal = err
		}
	}
	return refusal
}

// items lists the items of a kind that a project has. Neutron and Glance also list those of others. Ports of Neutron's
// own go with their network.
func (s *session) items(ctx context.Context, k kind, p project) ([]item, error) {
	found, err := s.list(ctx, k.service, k.name, strings.ReplaceAll(k.query, "PROJECT", p.ID))
	return slices.DeleteFunc(found, func(i item) bool {
		return k.service == network && i.Project != p.ID || k.service == image && i.Owner != p.ID || k.name == ports && strings.HasPrefix(i.DeviceOwner, "network:")
	}), err
}

// unstick lets volumes of a project be removed whose state Cinder does not change any more. Without servers, which also
// have their states, no volume is on its way to one. Only an administrator may do it.
func (s *session) unstick(ctx context.Context, member *session, p project, serversGone bool) error {
	found, err := member.list(ctx, volume, volumes, "/detail")
	for _, v := range found {
		if v.Tenant != p.ID || v.Status != "error_deleting" && !(serversGone && slices.Contains(attached, v.Status)) {
			continue
		}
		body := map[string]any{"os-reset_status": map[string]any{"status": "error", "attach_status": "detached"}}
		if err := gone(s.call(ctx, http.MethodPost, volume, volumes+"/"+v.ID+"/action", body, nil)); err != nil {
			return err
		}
	}
	return err
}

// attached are the states of volumes that servers have, get, or give back.
var attached = []string{"reserved", "attaching", "in-use", "detaching"}

// unplug takes a router out of its networks.
func (s *session) unplug(ctx context.Context, router string) error {
	var found struct{ Ports []item }
	if err := s.call(ctx, http.MethodGet, network, "ports?device_id="+router, nil, &found); err != nil {
		return err
	}
	for _, port := range found.Ports {
		if strings.HasPrefix(port.DeviceOwner, "network:router_interface") {
			if err := gone(s.call(ctx, http.MethodPut, network, routers+"/"+router+"/remove_router_interface", map[string]any{"port_id": port.ID}, nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

// gone returns the error of a removal, unless the thing does not exist.
func gone(err error) error {
	if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return nil
	}
	return err
}
