-- The state of an order; it never goes back.
CREATE TYPE order_state AS ENUM ('open', 'closed; or not');

CREATE TABLE IF NOT EXISTS shop."users" (
    id serial PRIMARY KEY,
    name text NOT NULL DEFAULT 'it''s; me' -- a comment; with a semicolon
);

/* Orders; of users. */
create table orders (
    id int,
    state order_state NOT NULL,
    user_id int REFERENCES shop.users (id)
);

CREATE UNIQUE INDEX CONCURRENTLY orders_by_user ON orders (user_id);
CREATE INDEX ON orders (state);

CREATE OR REPLACE FUNCTION shop.total(of_user int) RETURNS int AS $body$
DECLARE
    n int;
BEGIN
    SELECT count(*) INTO n FROM orders o, shop.users AS u WHERE o.user_id = u.id;
    IF n > 0 THEN
        RETURN n;
    END IF;
    RETURN 'x'::order_state;
END;
$body$ LANGUAGE plpgsql;

CREATE TEMP VIEW open_orders AS
    WITH recent AS (SELECT * FROM orders)
    SELECT shop.total(r.user_id) FROM recent r JOIN "users" ON true;

CREATE TRIGGER log_orders AFTER INSERT OR UPDATE ON orders
    FOR EACH ROW EXECUTE FUNCTION shop.log_it();

INSERT INTO orders (id) VALUES (1);
UPDATE shop.users SET name = 'FROM nowhere';

DELIMITER //
CREATE PROCEDURE close_all()
BEGIN
    UPDATE orders SET state = CASE WHEN id > 1 THEN 'a' ELSE 'b' END;
    CALL close_one(1);
END//
DELIMITER ;

CREATE TABLE [dbo].[Bills] (Id int)
GO
CREATE PROCEDURE dbo.PayBill AS
    SELECT 1;
    UPDATE dbo.Bills SET Id = 2;
GO
DROP TABLE `orders`;
CREATE OPERATOR CLASS shop_ops DEFAULT FOR TYPE order_state USING btree AS OPERATOR 1 <;
