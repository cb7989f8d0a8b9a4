# Prints the servers that run on the node, with the names that their users gave them.

ids=$(virsh list --uuid)
for id in $ids; do
  # Others know libvirt's domain, but not the server.
  name=$(virsh metadata "$id" http://openstack.org/xmlns/libvirt/nova/1.1 2> /dev/null |
    sed -nE '/<(nova:)?name>/ { s:.*<(nova\:)?name>(.*)</(nova\:)?name>.*:\2:p; q }' |
    sed -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&quot;/"/g' -e 's/&amp;/\&/g')
  echo "${name:-unnamed} ($id)"
done
